import { Type } from "typebox";
import { ComponentCode, ComponentUrl } from "../components/schema.ts";

/** A source as the API shows it in lists (docs/rest-api.md#source). */
export const SourceSchema = Type.Object(
  {
    id: Type.String(),
    user_id: Type.String(),
    component_id: Type.String(),
    configured_props: Type.Record(Type.String(), Type.Unknown(), {
      description:
        "Values by prop name, without secrets. A timer is `{cron, interval_seconds}`, an HTTP interface " +
        "`{endpoint_url}`.",
    }),
    active: Type.Boolean(),
    created_at: Type.Integer(),
    updated_at: Type.Integer(),
    name: Type.String(),
    name_slug: Type.String(),
  },
  { title: "Source" },
);

/** A source with the number of events that it dropped (docs/design.md#guarantee-8). */
export const SourceDetailSchema = Type.Object(
  {
    ...SourceSchema.properties,
    dropped: Type.Record(Type.String(), Type.Integer(), {
      description: "Number of events dropped on purpose, by reason.",
    }),
  },
  { title: "SourceDetail" },
);

/** Body of `POST /sources`; one of the four fields that name the component is required. */
export const NewSource = Type.Object({
  component_id: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description: "Id of one of your components, or of a published one.",
    }),
  ),
  component_code: Type.Optional(ComponentCode),
  component_url: Type.Optional(ComponentUrl),
  key: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      description: "Key of one of your components, or of a published one.",
    }),
  ),
  name: Type.Optional(
    Type.String({ minLength: 1, maxLength: 128, description: "Default: the name slug of the component." }),
  ),
  configured_props: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description: "Values by prop name. A timer is `{intervalSeconds}` or `{cron, timezone?}`.",
    }),
  ),
  emit_on_deploy: Type.Optional(
    Type.Boolean({
      description: "False: the events of the deploy hook are dropped, and counted as dropped. Default: true.",
    }),
  ),
});

/** Body of `PUT /sources/{id}`. */
export const SourceUpdate = Type.Object({
  component_id: NewSource.properties.component_id,
  component_code: NewSource.properties.component_code,
  component_url: NewSource.properties.component_url,
  key: NewSource.properties.key,
  name: NewSource.properties.name,
  configured_props: NewSource.properties.configured_props,
  active: Type.Optional(Type.Boolean({ description: "Whether the source runs. Default: true." })),
});
