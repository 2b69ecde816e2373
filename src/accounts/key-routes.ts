import { type Static, Type } from "typebox";
import { data, empty, page, routeFor } from "../http/route.ts";
import { AppError } from "../lib/errors.ts";
import { KEY_KINDS, KeyAccessSchema, type KeyKind } from "../lib/key-access.ts";
import { OrNull, patternInWords } from "../lib/schemas.ts";
import { LIMITS } from "../limits/catalogue.ts";
import type { ApiKey } from "../models/user.ts";
import type { Stores } from "../platform.ts";
import { mapPage } from "../store/page.ts";
import { presentLimits, presentOrigin, revokeApiKey } from "./api-keys.ts";
import { createOwnKey, listOwnKeys, ownKey } from "./own-keys.ts";

const route = routeFor<Stores>();
const tag = "API keys";

const EmitterIds = Type.Array(
  Type.String({
    maxLength: 64,
    pattern: patternInWords("^(dc|p)_[0-9A-Za-z]+$", "must be the id of a source or workflow"),
  }),
  { minItems: 1, maxItems: LIMITS.apiKeyEmitters.value, uniqueItems: true },
);

const ApiKeyView = Type.Object(
  {
    id: Type.String({ description: "`key_…`" }),
    kind: Type.Unsafe<KeyKind>({
      type: "string",
      enum: [...KEY_KINDS],
      description:
        "`key`: programs send it. `connector_url`: an agent's host connects by an address that has it, and nothing else can be done with it. " +
        "`oauth`: an agent's host was let in, which has tokens that rest on it.",
    }),
    prefix: OrNull(
      Type.String(),
      "How the key begins; null for a key of an earlier version, and for one of the kind `oauth`, which has no text.",
    ),
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
    access: KeyAccessSchema,
    emitter_ids: OrNull(
      Type.Array(Type.String()),
      "The sources and workflows to which a key with the access `publish` may publish, also those that were deleted since; null for all.",
    ),
    expires_at: OrNull(
      Type.Integer(),
      "Unix seconds: from then on it is rejected, and the sessions that were started with it have ended. Null if it does not expire.",
    ),
    created_at: Type.Integer({ description: "Unix seconds." }),
    last_used_at: OrNull(Type.Integer(), "Unix seconds, up to a minute old; null if it was not used yet."),
    mcp_client: OrNull(
      Type.Object({
        name: OrNull(Type.String(), "As it calls itself; null if it does not."),
        version: OrNull(Type.String(), "The same."),
        last_used_at: Type.Integer({ description: "Unix seconds, up to a minute old." }),
      }),
      "The client of the Model Context Protocol that used it last; null if none did.",
    ),
    revoked_at: OrNull(Type.Integer(), "Unix seconds; null unless it was revoked."),
  },
  { title: "ApiKey" },
);
type ApiKeyView = Static<typeof ApiKeyView>;

const CreatedApiKey = Type.Object(
  { ...ApiKeyView.properties, api_key: Type.String({ description: "`hw_…`; never shown again." }) },
  { title: "CreatedApiKey" },
);

const ConnectorUrl = Type.Object(
  {
    ...ApiKeyView.properties,
    url: Type.String({ description: "Where the agent's host connects; never shown again. It is a secret." }),
  },
  { title: "ConnectorUrl" },
);

const Name = Type.String({ minLength: 1, maxLength: 128 });
const ExpiresAt = Type.Integer({
  minimum: 0,
  description: "Unix seconds, within ten years. By default the key does not expire.",
});

const present = (key: ApiKey): ApiKeyView => ({
  id: key._id,
  prefix: key.prefix ?? null,
  name: key.name ?? null,
  ...presentOrigin(key),
  ...presentLimits(key),
  created_at: key.created_at,
  last_used_at: key.last_used_at ?? null,
  mcp_client: key.mcp_client
    ? {
        name: key.mcp_client.name ?? null,
        version: key.mcp_client.version ?? null,
        last_used_at: key.mcp_client.used_at,
      }
    : null,
  revoked_at: key.revoked_at,
});

const example: ApiKeyView = {
  id: "key_0CjB8sYq2MnO5wZc",
  kind: "key",
  prefix: "hw_0123",
  name: "wall display",
  made_with: "ses_0CjBBq6Av9MsU2zJ",
  ends_with_provider: false,
  access: "read",
  emitter_ids: null,
  expires_at: null,
  created_at: 1_700_000_000,
  last_used_at: null,
  mcp_client: null,
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
    description: "Newest first, with those that are revoked or expired.",
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
    description:
      "The key is shown in this response only, and what it may do does not change. It expires with the key that it is made with, " +
      "or with that of the session, at the latest. 404 if one of `emitter_ids` is not an emitter that the caller can read.",
    access: { kind: "caller" },
    body: Type.Object({
      name: Type.Optional(Name),
      access: Type.Optional(KeyAccessSchema),
      emitter_ids: Type.Optional({
        ...EmitterIds,
        description:
          "The only sources and workflows to which the key may publish; needs the access `publish`. All of them by default.",
      }),
      expires_at: Type.Optional(ExpiresAt),
    }),
    response: data(201, CreatedApiKey),
    errors: ["limit-reached"],
    example: {
      body: { name: "wall display", access: "read" },
      response: { ...example, api_key: "hw_0123456789ABCDEFGHIJKLMNOPQRSTUV" },
    },
    handler: async ({ deps, caller, body, owners }) => {
      const { name = null, access, emitter_ids: emitterIds, expires_at: expiresAt } = body;
      const wanted = { name, ...(access && { access }), emitterIds, expiresAt };
      const { key, apiKey } = await createOwnKey(deps, caller, wanted, owners);
      return { ...present(key), api_key: apiKey };
    },
  }),
  route({
    method: "POST",
    path: "/connector_urls",
    id: "createConnectorUrl",
    audit: "api_key.created",
    tag,
    summary: "Create a connector URL",
    description:
      "An address of `POST /mcp` with a key of its own in it, for an agent's host that can't send a key. What knows the address connects, " +
      "so it is shown in this response only. It is listed and revoked as an API key, and expires as one. The key is of no use at any " +
      "other address. 404 if the server serves no agents.",
    access: { kind: "caller" },
    body: Type.Object({
      name: Type.Optional(Name),
      access: Type.Optional(
        Type.Unsafe<"read" | "full">({
          type: "string",
          enum: ["read", "full"],
          description: "As that of an API key; `read` by default.",
        }),
      ),
      expires_at: Type.Optional(ExpiresAt),
    }),
    response: data(201, ConnectorUrl),
    errors: ["limit-reached"],
    example: {
      body: { name: "ChatGPT" },
      response: {
        ...example,
        ...{ kind: "connector_url", name: "ChatGPT", prefix: "hwc_kJ0" },
        url: "https://headwater.example.com/mcp/c/hwc_kJ0…",
      },
    },
    handler: async ({ deps, caller, body, owners }) => {
      const { mcp, publicUrl } = deps.config;
      if (mcp === "off") throw new AppError("not-found", "this server serves no agents");
      const { name = null, access = "read", expires_at: expiresAt } = body;
      const wanted = { kind: "connector_url" as const, name, access, expiresAt };
      const { key, apiKey } = await createOwnKey(deps, caller, wanted, owners);
      return { ...present(key), url: `${publicUrl}/mcp/c/${apiKey}` };
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
