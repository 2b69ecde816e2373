import { configuredRoutes } from "../components/configure/routes.ts";
import { deployerOf } from "../components/deployer.ts";
import { COMPONENT_SOURCES } from "../components/save.ts";
import { accountListsFor } from "../http/account-lists.ts";
import { data, empty, page, routeFor } from "../http/route.ts";
import { LIMITS } from "../limits/catalogue.ts";
import type { Awaited, Calling, Working } from "../platform.ts";
import { createSource } from "./create-source.ts";
import { deleteSource } from "./delete-source.ts";
import { openConfigured } from "./prepare.ts";
import { presentDetail, presentSource, presentSources, withoutAddresses } from "./present.ts";
import {
  NewSource,
  SourceDetailSchema,
  SourceFilter,
  SourceSchema,
  SourceUpdate,
  UpdatedSourceSchema,
} from "./schema.ts";
import { findSource, findSourceToChange, listSources } from "./source.ts";
import { rotateSourceEndpoint, updateSource } from "./update-source.ts";

const route = routeFor<Working & Calling & Awaited>();
const accountLists = accountListsFor<Working & Calling & Awaited>();
const tag = "Sources";

/** The access rule of routes that read the source that their path names. */
export const ownSource = {
  kind: "resource",
  what: "source",
  isRevised: true,
  load: findSource,
  errors: ["conflict"],
} as const;
/** The access rule of routes that change the source that their path names. */
export const ownSourceToChange = { ...ownSource, load: findSourceToChange } as const;

const example = {
  component_code:
    'export default { name: "Hello", version: "0.0.1", props: { http: "$.interface.http" }, run(event) { this.$emit(event.body); } };',
  name: "hello",
  verify: { preset: "github", secrets: ["a secret that GitHub knows, too"] },
};
/** The source of the examples. */
export const exampleSource = {
  id: "dc_0CjB9uPc7RfT1xLs",
  user_id: "u_0CjB8sXp1LmN4vYb",
  component_id: "sc_0CjB8zQw2MnP5vTa",
  description: null,
  dedupe: null,
  remember: null,
  configured_props: {
    http: { endpoint_url: "https://headwater.example/in/Qm3vT8kZr1XcB6nWp0LsYdHj2FgA5uEe" },
  },
  active: true,
  created_at: 1_700_000_000,
  updated_at: 1_700_000_000,
  dynamic_props_id: null,
  verify: {
    ...{ by: "owner" as const, preset: "github", rule: null, tolerance: null, reject_with: 401 },
    ...{ drop_repeats: false, mode: "enforce" as const, secrets: 1, secrets_given: 1 },
  },
  name: "hello",
  name_slug: "hello",
  last_event_at: 1_700_000_000,
  last_success_at: 1_700_000_000,
  last_error_at: null,
  revision: 1,
};
const params = { id: exampleSource.id };

export const sourceRoutes = [
  ...accountLists({
    things: "sources",
    tag,
    description: "The newest first.",
    ofOwn: "Sources of organizations are in the lists of those.",
    query: SourceFilter,
    response: page(200, SourceSchema),
    example: exampleSource,
    read: async ({ deps, owner, query, page, seesSecrets }) => {
      const found = await listSources(deps, owner, query, page);
      const rows = await presentSources(deps, found.rows);
      return { ...found, rows: seesSecrets(owner) ? rows : rows.map(withoutAddresses) };
    },
  }),
  route({
    method: "POST",
    path: "/sources",
    id: "createSource",
    audit: "source.created",
    tag,
    summary: "Deploy a source",
    description:
      "One of `component_id`, `key`, `component_code`, `files` and `component_url` is required; if several are " +
      "given, the first in this order is used, and `component_url` is only metadata. The deploy and " +
      "activate hooks of the component run before the response.",
    access: { kind: "owner" },
    body: NewSource,
    maxBodyBytes: LIMITS.componentBodyBytes.value,
    requiresOneOf: COMPONENT_SOURCES,
    response: data(201, SourceSchema),
    links: { createSubscription: "emitter_id" },
    errors: ["conflict", "limit-reached", "not-found", "unavailable"],
    example: { body: example, response: exampleSource },
    handler: async request => {
      const { deps, body } = request;
      return presentSource(deps, await createSource(deps, deployerOf(request), body));
    },
  }),
  route({
    method: "GET",
    path: "/sources/{id}",
    id: "getSource",
    tag,
    summary: "Get a source by id or name slug",
    description:
      "With what its list does not show: the events that it dropped, the props that its code added, which secrets are set, and its next tick. A name slug means the source of the account that the request is for, or else the only one that you can access.",
    access: ownSource,
    response: data(200, SourceDetailSchema),
    example: {
      params,
      response: {
        ...exampleSource,
        dropped: { "no-listener": 3 },
        dynamic_props: [],
        secrets_set: ["token"],
        deactivating: false,
        next_tick_at_ms: null,
      },
    },
    handler: async ({ deps, resource, seesSecrets }) => {
      const shown = await presentDetail(deps, resource);
      return seesSecrets(resource.owner_id) ? shown : withoutAddresses(shown);
    },
  }),
  route({
    method: "PUT",
    path: "/sources/{id}",
    id: "updateSource",
    audit: "source.updated",
    tag,
    summary: "Update, enable or disable a source",
    description:
      "Fields that are left out stay unchanged, except `active`: its default is true. Another `component_id` or `key` removes " +
      "the secrets of its props unless they are given again; code that is sent edits the source's own, and keeps them. Hooks " +
      "are called only if the code, the props or `active` change. Switching off does not wait for a run in progress, after " +
      "which the deactivate hook is called.",
    access: ownSourceToChange,
    body: SourceUpdate,
    maxBodyBytes: LIMITS.componentBodyBytes.value,
    response: data(200, UpdatedSourceSchema),
    errors: ["limit-reached", "unavailable"],
    example: {
      params,
      body: { name: "hello", active: false },
      response: { ...exampleSource, active: false, secrets_removed: [] },
    },
    handler: async request => {
      const { deps, body, resource } = request;
      const { source, secretsRemoved } = await updateSource(deps, deployerOf(request), resource, body);
      return { ...(await presentSource(deps, source)), secrets_removed: secretsRemoved };
    },
  }),
  ...configuredRoutes({
    path: "/sources/{id}",
    tag,
    noun: "a source",
    hidden: "credentials",
    access: ownSourceToChange,
    exampleId: exampleSource.id,
    open: openConfigured,
  }),
  route({
    method: "POST",
    path: "/sources/{id}/rotate_endpoint",
    id: "rotateSourceEndpoint",
    audit: "source.endpoint_rotated",
    tag,
    summary: "Replace the address of a source's endpoint",
    description:
      "The old address ends at once. Hooks are called as for a change of its props, so a component that registers the address " +
      "with a service registers the new one. 409 for a source without an HTTP interface.",
    access: ownSourceToChange,
    response: data(200, SourceSchema),
    errors: ["conflict", "unavailable"],
    example: { params, response: exampleSource },
    handler: async request => {
      const { deps, resource } = request;
      return presentSource(deps, await rotateSourceEndpoint(deps, deployerOf(request), resource));
    },
  }),
  route({
    method: "DELETE",
    path: "/sources/{id}",
    id: "deleteSource",
    audit: "source.deleted",
    tag,
    summary: "Delete a source",
    description:
      "Its `deactivate` hook runs first. Its memory, its subscriptions, its events and the versions of its code are deleted with it; deliveries that wait are still made.",
    access: ownSourceToChange,
    response: empty(204),
    example: { params },
    handler: ({ deps, resource }) => deleteSource(deps, resource),
  }),
];
