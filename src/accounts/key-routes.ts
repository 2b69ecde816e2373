import { type Static, Type } from "typebox";
import { data, empty, page, routeFor } from "../http/route.ts";
import { OrNull } from "../lib/schemas.ts";
import type { ApiKey } from "../models/user.ts";
import type { Stores } from "../platform.ts";
import { mapPage } from "../store/page.ts";
import { presentOrigin, revokeApiKey } from "./api-keys.ts";
import { createOwnKey, listOwnKeys, ownKey } from "./own-keys.ts";

const route = routeFor<Stores>();
const tag = "API keys";

const ApiKeyView = Type.Object(
  {
    id: Type.String({ description: "`key_…`" }),
    prefix: OrNull(Type.String(), "How the key begins; null for a key of an earlier version."),
    name: OrNull(Type.String(), "What you called it."),
    made_with: OrNull(
      Type.String(),
      "The session (`ses_…`) or the API key (`key_…`) that it was made with; null if the operator made it, or an earlier version.",
    ),
    ends_with_provider: Type.Boolean({
      description:
        "True if it was made in a session that began with an OpenID provider, or with such a key: it is revoked when the " +
        "provider's rules no longer let you in.",
    }),
    created_at: Type.Integer({ description: "Unix seconds." }),
    last_used_at: OrNull(Type.Integer(), "Unix seconds, up to a minute old; null if it was not used yet."),
    revoked_at: OrNull(Type.Integer(), "Unix seconds; null while it is valid."),
  },
  { title: "ApiKey" },
);
type ApiKeyView = Static<typeof ApiKeyView>;

const CreatedApiKey = Type.Object(
  { ...ApiKeyView.properties, api_key: Type.String({ description: "`hw_…`; never shown again." }) },
  { title: "CreatedApiKey" },
);

const present = (key: ApiKey): ApiKeyView => ({
  id: key._id,
  prefix: key.prefix ?? null,
  name: key.name ?? null,
  ...presentOrigin(key),
  created_at: key.created_at,
  last_used_at: key.last_used_at ?? null,
  revoked_at: key.revoked_at,
});

const example: ApiKeyView = {
  id: "key_0CjB8sYq2MnO5wZc",
  prefix: "hw_0123",
  name: "deploy script",
  made_with: "ses_0CjBBq6Av9MsU2zJ",
  ends_with_provider: false,
  created_at: 1_700_000_000,
  last_used_at: null,
  revoked_at: null,
};

/** A user's own API keys. */
export const keyRoutes = [
  route({
    method: "GET",
    path: "/api_keys",
    id: "listApiKeys",
    tag,
    summary: "List your API keys",
    description: "Newest first, revoked ones too.",
    access: { kind: "caller" },
    response: page(200, ApiKeyView),
    example: { response: example },
    handler: async ({ deps, caller, page }) => mapPage(await listOwnKeys(deps, caller.userId, page), present),
  }),
  route({
    method: "POST",
    path: "/api_keys",
    id: "createApiKey",
    audit: "api_key.created",
    tag,
    summary: "Create an API key",
    description: "The key is shown in this response only.",
    access: { kind: "caller" },
    body: Type.Object({ name: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })) }),
    response: data(201, CreatedApiKey),
    errors: ["limit-reached"],
    example: {
      body: { name: "deploy script" },
      response: { ...example, api_key: "hw_0123456789ABCDEFGHIJKLMNOPQRSTUV" },
    },
    handler: async ({ deps, caller, body }) => {
      const { key, apiKey } = await createOwnKey(deps, caller, body.name ?? null);
      return { ...present(key), api_key: apiKey };
    },
  }),
  route({
    method: "DELETE",
    path: "/api_keys/{id}",
    id: "revokeApiKey",
    audit: "api_key.revoked",
    tag,
    summary: "Revoke an API key",
    description: "It is rejected from the next request on, and the sessions that were started with it end.",
    access: ownKey,
    response: empty(204),
    example: { params: { id: example.id } },
    handler: async ({ deps, resource }) => void (await revokeApiKey(deps, resource._id)),
  }),
];
