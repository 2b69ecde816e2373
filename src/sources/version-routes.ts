import { Type } from "typebox";
import { deployerOf } from "../components/deployer.ts";
import { data, page, routeFor } from "../http/route.ts";
import { patternInWords } from "../lib/schemas.ts";
import { LIMITS } from "../limits/catalogue.ts";
import type { Awaited, Calling, Working } from "../platform.ts";
import { pageOfRows } from "../store/page.ts";
import { presentSource } from "./present.ts";
import { presentVersion, presentVersions } from "./present-versions.ts";
import { exampleSource, ownSource, ownSourceToChange } from "./routes.ts";
import { UpdatedSourceSchema } from "./schema.ts";
import { restoreVersion } from "./update-source.ts";
import { CodeVersionDetail, CodeVersionSchema, RestoreBody } from "./version-schema.ts";

const route = routeFor<Working & Calling & Awaited>();
const tag = "Sources";

const params = Type.Object({
  version: Type.String({
    pattern: patternInWords("^[1-9][0-9]{0,8}$", "must be the number of a version"),
    description: "Its number.",
  }),
});
const shown = {
  id: "cv_0CjB9uPd3KsW7yMq",
  number: 1,
  component_id: exampleSource.component_id,
  code_hash: "8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4",
  component_version: "0.0.1",
  component_url: null,
  from: "component_code",
  user_id: exampleSource.user_id,
  username: "anna",
  key_id: null,
  comment: "the address of the new shop",
  restored_from: null,
  is_current: true,
  can_restore: true,
  created_at: 1_700_000_000,
};
const code =
  'export default { name: "Hello", version: "0.0.1", props: { http: "$.interface.http" }, run(event) { this.$emit(event.body); } };';
const named = { id: exampleSource.id, version: "1" };

/** The versions of a source's code. */
export const versionRoutes = [
  route({
    method: "GET",
    path: "/sources/{id}/versions",
    id: "listSourceVersions",
    tag,
    summary: "List the versions of a source's code",
    description:
      `The newest first, which is the code that it has now; the last ${LIMITS.codeVersions.value} are kept. Each change of its code is ` +
      "one, and so is each version that is restored; what else is changed makes none.",
    access: ownSource,
    response: page(200, CodeVersionSchema),
    example: { params: { id: exampleSource.id }, response: shown },
    handler: async request => {
      const versions = await presentVersions(request.deps, request.resource, deployerOf(request).readable);
      return pageOfRows(versions, request.page);
    },
  }),
  route({
    method: "GET",
    path: "/sources/{id}/versions/{version}",
    id: "getSourceVersion",
    tag,
    summary: "Get a version of a source's code",
    description:
      "With its code: two of them are what a comparison needs. `code` and `files` are as those of a component.",
    access: ownSource,
    params,
    response: data(200, CodeVersionDetail),
    example: { params: named, response: { ...shown, code, files: {}, entry: null } },
    handler: request =>
      presentVersion(
        request.deps,
        request.resource,
        Number(request.params.version),
        deployerOf(request).readable,
      ),
  }),
  route({
    method: "POST",
    path: "/sources/{id}/versions/{version}/restore",
    id: "restoreSourceVersion",
    audit: "source.version_restored",
    tag,
    summary: "Restore a version of a source's code",
    description:
      "Deploys that code again, as the next version: nothing is rebuilt, hooks run as for a change of code, and whether the source is " +
      "active stays as it is. Its props are those that it has now; a prop that does not fit is a 400 that names it, and " +
      "`configured_props` give others. Secrets stay with code of the source's own account, and are removed as by `component_id` for a " +
      "component of another one. 409 for a version whose component was deleted.",
    access: ownSourceToChange,
    heedsIfMatch: true,
    params,
    body: RestoreBody,
    response: data(200, UpdatedSourceSchema),
    errors: ["limit-reached", "unavailable"],
    example: {
      params: named,
      body: { comment: "the one of today loses orders" },
      response: { ...exampleSource, secrets_removed: [] },
    },
    handler: async request => {
      const { deps, body, resource, params } = request;
      const { source, secretsRemoved } = await restoreVersion(
        deps,
        deployerOf(request),
        resource,
        Number(params.version),
        body,
      );
      return { ...(await presentSource(deps, source)), secrets_removed: secretsRemoved };
    },
  }),
];
