import { Type } from "typebox";
import { data, empty, page, routeFor } from "../http/route.ts";
import { LIMITS } from "../limits/catalogue.ts";
import type { Calling } from "../platform.ts";
import { mapPage } from "../store/page.ts";
import {
  deleteComponent,
  findComponent,
  findOwnComponent,
  findPublished,
  listComponents,
} from "./components.ts";
import { CODE_SOURCES } from "./given-files.ts";
import { presentComponent } from "./present.ts";
import { saveComponent } from "./save.ts";
import { CODE_FIELDS, ComponentFiles, ComponentFilter, ComponentSchema } from "./schema.ts";
import { readFiles } from "./stored-bundle.ts";

const route = routeFor<Calling>();
const tag = "Components";

const code =
  'export default { name: "Hello", version: "0.0.1", key: "hello-http", props: { http: "$.interface.http" }, run(event) { this.$emit(event.body); } };';
const shown = {
  id: "sc_0CjB8zQw2MnP5vTa",
  code,
  code_hash: "8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4",
  type: "source" as const,
  name: "Hello",
  version: "0.0.1",
  key: "hello-http",
  component_url: null,
  description: null,
  dedupe: null,
  remember: null,
  configurable_props: [{ name: "http", type: "$.interface.http" }],
  additional_props: false,
  owner_id: "u_0CjB8sXp1LmN4vYb",
  published: false,
  created_at: 1_700_000_000,
  updated_at: 1_700_000_000,
};

export const componentRoutes = [
  route({
    method: "POST",
    path: "/components",
    id: "createComponent",
    audit: "component.saved",
    tag,
    summary: "Save a component",
    description:
      "If the same code was saved before, that component is returned. One of `component_code`, `files` and " +
      "`component_url` is required; if several are given, the first in this order is used, and `component_url` is only " +
      "metadata.",
    access: { kind: "owner" },
    body: Type.Object(CODE_FIELDS),
    maxBodyBytes: LIMITS.componentBodyBytes.value,
    requiresOneOf: CODE_SOURCES,
    response: data(201, ComponentSchema),
    errors: ["limit-reached", "unavailable"],
    example: { body: { component_code: code }, response: shown },
    handler: async ({ deps, body, owner, caller }) =>
      presentComponent(await saveComponent(deps, { ownerId: owner, userId: caller.userId }, body)),
  }),
  route({
    method: "GET",
    path: "/components",
    id: "listComponents",
    tag,
    summary: "List your components",
    description:
      "The newest first: those that you saved, and those of an organization with `org_id`. `type` keeps sources or actions only.",
    access: { kind: "owner" },
    query: ComponentFilter,
    response: page(200, ComponentSchema),
    example: { response: shown },
    handler: async ({ deps, owner, page, query }) =>
      mapPage(await listComponents(deps, owner, query, page), presentComponent),
  }),
  route({
    method: "DELETE",
    path: "/components/{id}",
    id: "deleteComponent",
    audit: "component.deleted",
    tag,
    summary: "Delete a component",
    description:
      "Rejected with 409 while a source or an action uses it. A version of a source that has its code can't be restored afterwards.",
    access: {
      kind: "resource",
      what: "component",
      load: findOwnComponent,
    },
    response: empty(204),
    errors: ["conflict"],
    example: { params: { id: shown.id } },
    handler: ({ deps, resource }) => deleteComponent(deps, resource),
  }),
  route({
    method: "GET",
    path: "/components/registry/{key}",
    id: "getRegistryComponent",
    tag,
    summary: "Get a published component by key",
    description: "Only components that the operator has published have a key here.",
    access: {
      kind: "resource",
      what: "component",
      param: "key",
      load: findPublished,
      errors: ["conflict"],
    },
    response: data(200, ComponentSchema),
    example: { params: { key: shown.key }, response: shown },
    handler: async ({ resource }) => presentComponent(resource),
  }),
  route({
    method: "GET",
    path: "/components/{id}",
    id: "getComponent",
    tag,
    summary: "Get a component by id or key",
    description:
      "A key names the latest component of your account with that key (of the organization's with `org_id`), otherwise the " +
      "published one; `owner_id` says which. Components of your other organizations have to be named by id.",
    access: {
      kind: "resource",
      what: "component",
      load: findComponent,
      errors: ["conflict"],
    },
    response: data(200, ComponentSchema),
    example: { params: { id: shown.id }, response: shown },
    handler: async ({ resource }) => presentComponent(resource),
  }),
  route({
    method: "GET",
    path: "/components/{id}/files",
    id: "getComponentFiles",
    tag,
    summary: "Get the files of a component",
    description:
      "Its own files, as `files` and `entry` of a request that edits it. Of a package.json they have what the component's imports ask for.",
    access: {
      kind: "resource",
      what: "component",
      load: findComponent,
      errors: ["conflict"],
    },
    response: data(200, ComponentFiles),
    example: {
      params: { id: shown.id },
      response: {
        files: { "main.mjs": 'export { default } from "./lib/hello.mjs";', "lib/hello.mjs": code },
        entry: "main.mjs",
      },
    },
    handler: ({ deps, resource }) => readFiles(deps, resource),
  }),
];
