import { Type } from "typebox";
import { ComponentFiles } from "../components/schema.ts";
import { OrNull } from "../lib/schemas.ts";
import { NewSource } from "./schema.ts";

/** A version of a source's code as the API lists it (docs/rest-api.md#versions-of-a-sources-code). */
export const CodeVersionSchema = Type.Object(
  {
    id: Type.String(),
    number: Type.Integer({ description: "Counts from 1 for each source; the `version` of paths." }),
    component_id: Type.String({ description: "The component that has this code." }),
    code_hash: OrNull(
      Type.String(),
      "SHA-256 of its files; null if the component was deleted, or is not yours to read.",
    ),
    component_version: OrNull(Type.String(), "What the code calls its version; null as `code_hash`."),
    component_url: OrNull(
      Type.String(),
      "The address that the code came from; null without one, and as `code_hash`.",
    ),
    from: OrNull(
      Type.String(),
      "The field of the request that had the code or named it: `component_code`, `files`, `component_url`, `component_id` or " +
        "`key`. Null for what a release without versions deployed.",
    ),
    user_id: OrNull(Type.String(), "Who deployed or restored it; null as `from`."),
    username: OrNull(Type.String(), "Their name."),
    key_id: OrNull(Type.String(), "The API key of the request; null for one of a session, and as `from`."),
    comment: OrNull(Type.String(), "What the request said of it."),
    restored_from: OrNull(Type.Integer(), "The number of the version that was restored; null otherwise."),
    is_current: Type.Boolean({ description: "True for the code that the source has now: the newest." }),
    can_restore: Type.Boolean({
      description: "False if its component was deleted, or is not yours to read.",
    }),
    created_at: OrNull(Type.Integer(), "Unix seconds; null as `from`."),
  },
  { title: "CodeVersion" },
);

/** A version with its code. */
export const CodeVersionDetail = Type.Object(
  {
    ...CodeVersionSchema.properties,
    code: OrNull(Type.String(), "The main file; null if the component was deleted, or is not yours to read."),
    ...ComponentFiles.properties,
  },
  { title: "CodeVersionDetail" },
);

/** Body of `POST /sources/{id}/versions/{version}/restore`. */
export const RestoreBody = Type.Object({
  configured_props: NewSource.properties.configured_props,
  dynamic_props_id: NewSource.properties.dynamic_props_id,
  comment: NewSource.properties.comment,
});
