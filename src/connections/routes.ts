import { Type } from "typebox";
import { accountListsFor } from "../http/account-lists.ts";
import { data, empty, page, routeFor } from "../http/route.ts";
import type { Calling } from "../platform.ts";
import { mapPage } from "../store/page.ts";
import { listApps } from "./apps/apps.ts";
import {
  createConnection,
  deleteConnection,
  listConnections,
  ownConnection,
  presentConnection,
  rotateEndpoint,
  updateConnection,
} from "./connections.ts";
import { askForConnection, askToReconnect } from "./consent/consent.ts";
import { renewByHand } from "./renew.ts";
import {
  AppView,
  ConnectionChanges,
  ConnectionFilter,
  ConnectionView,
  ConsentView,
  NewConnection,
  NewConsent,
} from "./schema.ts";

const route = routeFor<Calling>();
const accountLists = accountListsFor<Calling>();
const tag = "Connections";

const example: ConnectionView = {
  id: "apn_0CjBAGh8mTq4ZsWe",
  user_id: "u_0CjB8sXp1LmN4vYb",
  app: "github",
  kind: "oauth2",
  name: "GitHub of Acme",
  field_names: ["oauth_access_token"],
  scope: "repo",
  health: "working",
  error: null,
  expires_at: 1_700_003_600,
  refreshed_at: 1_700_000_000,
  endpoint_url: null,
  events: null,
  verify: null,
  private_addresses: [],
  created_at: 1_700_000_000,
  updated_at: 1_700_000_000,
  revision: 1,
};
const params = { id: example.id };
const endpointUrl = `https://headwater.example/in/${example.id}-Qm3vT8kZr1XcB6nWp0LsYdHj2FgA5uEe`;
const keys: ConnectionView = {
  ...example,
  ...{ app: "weather", kind: "keys", name: "Weather", field_names: ["api_key"] },
  ...{ scope: null, expires_at: null, refreshed_at: null },
};
const consent: ConsentView = {
  connection_id: example.id,
  url: "https://headwater.example/connections/consent/Qm3vT8kZr1XcB6nWp0LsYdHj2FgA5uEe",
  expires_at: 1_700_000_600,
};

/** Returns a connection as a viewer of its organization sees it: who knows its address can send events. */
const withoutAddress = (shown: ConnectionView): ConnectionView => ({ ...shown, endpoint_url: null });

/** Routes that manage connections (docs/rest-api.md#connections). */
export const connectionRoutes = [
  route({
    method: "GET",
    path: "/apps",
    id: "listApps",
    tag,
    summary: "List the apps that can be connected by their consent",
    description: "Those that the operator has registered. A connection of kind `keys` may be of any app.",
    access: { kind: "caller" },
    response: data(200, Type.Array(AppView)),
    example: {
      response: [
        {
          slug: "github",
          name: "GitHub",
          scopes: ["repo"],
          events: { names: ["{{headers.x-github-event}}"] },
          verify: {
            ...{ preset: "github", rule: null, tolerance: null, reject_with: 401 },
            ...{ drop_repeats: false, mode: "enforce", secrets: 1 },
          },
        },
      ],
    },
    handler: ({ deps }) => listApps(deps),
  }),
  route({
    method: "POST",
    path: "/connections",
    id: "createConnection",
    audit: "connection.created",
    tag,
    summary: "Create a connection with keys",
    description:
      "Stores fields such as an API key, encrypted. Sources use them by `{authProvisionId}`; no response shows them.",
    access: { kind: "owner" },
    body: NewConnection,
    response: data(201, ConnectionView),
    errors: ["limit-reached"],
    example: { body: { app: "weather", name: "Weather", fields: { api_key: "…" } }, response: keys },
    handler: ({ deps, body, owner, caller }) =>
      createConnection(deps, { ownerId: owner, userId: caller.userId, ...body }),
  }),
  route({
    method: "POST",
    path: "/connections/consents",
    id: "createConsent",
    audit: "connection.requested",
    tag,
    summary: "Ask for a connection with an app's consent",
    description:
      "Returns the page on which a person agrees to it. Once the app has granted it, `GET /connections/{id}` finds the " +
      "connection; nothing is stored of it before.",
    access: { kind: "owner" },
    body: NewConsent,
    response: data(201, ConsentView),
    errors: ["limit-reached", "unavailable"],
    example: { body: { app: "github", name: example.name }, response: consent },
    handler: async ({ deps, body, owner, caller, changes }) => {
      const asked = await askForConnection(deps, { ownerId: owner, userId: caller.userId, ...body });
      changes({ id: asked.connection_id, name: body.name });
      return asked;
    },
  }),
  ...accountLists({
    things: "connections",
    tag,
    description: "The newest first. Credentials are never shown.",
    query: ConnectionFilter,
    response: page(200, ConnectionView),
    example: example,
    read: async ({ deps, owner, query, page, seesSecrets }) => {
      const found = await listConnections(deps, owner, query, page);
      return seesSecrets(owner) ? found : mapPage(found, withoutAddress);
    },
  }),
  route({
    method: "GET",
    path: "/connections/{id}",
    id: "getConnection",
    tag,
    summary: "Get a connection",
    description: "Its state, the names of its fields and its endpoint. Credentials are never shown.",
    access: ownConnection,
    response: data(200, ConnectionView),
    example: { params, response: example },
    handler: async ({ deps, resource, seesSecrets }) => {
      const shown = presentConnection(deps, resource);
      return seesSecrets(resource.owner_id) ? shown : withoutAddress(shown);
    },
  }),
  route({
    method: "PUT",
    path: "/connections/{id}",
    id: "updateConnection",
    audit: "connection.updated",
    tag,
    summary: "Change a connection",
    description:
      "What is left out stays unchanged; `fields` replaces all of them, and only those of kind `keys`. `events` says how " +
      "the events that the app sends are read, `verify` how its requests are verified.",
    access: ownConnection,
    body: ConnectionChanges,
    response: data(200, ConnectionView),
    example: { params, body: { name: example.name }, response: example },
    handler: ({ deps, resource, body }) => updateConnection(deps, resource, body),
  }),
  route({
    method: "POST",
    path: "/connections/{id}/reconnect",
    id: "reconnectConnection",
    audit: "connection.reconnect_requested",
    tag,
    summary: "Ask for an app's consent again",
    description:
      "As `POST /connections/consents`. The connection stays as it is until the app has granted new access.",
    access: ownConnection,
    response: data(201, ConsentView),
    errors: ["conflict", "unavailable"],
    example: { params, response: consent },
    handler: ({ deps, resource, caller }) => askToReconnect(deps, resource, caller.userId),
  }),
  route({
    method: "POST",
    path: "/connections/{id}/renew",
    id: "renewConnection",
    audit: "connection.renewed",
    tag,
    summary: "Renew the token of a connection now",
    description:
      "Needed only if the app ended the token before its time and no run has noticed that: runs that fail with HTTP 401 have " +
      "it renewed by themselves. A token that is less than 10 s old stays.",
    access: ownConnection,
    response: data(200, ConnectionView),
    errors: ["conflict", "unavailable"],
    example: { params, response: example },
    handler: ({ deps, resource }) => renewByHand(deps, resource),
  }),
  route({
    method: "POST",
    path: "/connections/{id}/rotate_endpoint",
    id: "rotateConnectionEndpoint",
    audit: "connection.endpoint_rotated",
    tag,
    summary: "Replace the address at which an app's events arrive",
    description:
      "Give the new `endpoint_url` to the app. The old one works for 24 more hours; if the address is replaced again before, " +
      "it ends at once.",
    access: ownConnection,
    response: data(200, ConnectionView),
    errors: ["conflict"],
    example: { params, response: { ...example, endpoint_url: endpointUrl } },
    handler: ({ deps, resource }) => rotateEndpoint(deps, resource),
  }),
  route({
    method: "DELETE",
    path: "/connections/{id}",
    id: "deleteConnection",
    audit: "connection.deleted",
    tag,
    summary: "Delete a connection",
    description:
      "409 if sources use it, which the error names; with `force`, their runs fail from then on. What the app granted " +
      "stays valid there until it ends or is revoked.",
    access: ownConnection,
    query: Type.Object({
      force: Type.Optional(Type.Boolean({ description: "True: also if sources use it." })),
    }),
    response: empty(204),
    errors: ["conflict"],
    example: { params },
    handler: ({ deps, resource, query }) => deleteConnection(deps, resource, { force: query.force === true }),
  }),
];
