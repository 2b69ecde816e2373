import type { Context, Middleware } from "koa";
import { resourceOf } from "../../accounts/access-tokens.ts";
import { readJson } from "../../http/json-body.ts";
import { requestState } from "../../http/request-log.ts";
import { AppError } from "../../lib/errors.ts";
import { newToken } from "../../lib/ids.ts";
import { unixSeconds } from "../../lib/time.ts";
import { LIMITS } from "../../limits/catalogue.ts";
import type { Outbound, Stores } from "../../platform.ts";
import { oauthLimitsOf } from "./bounds.ts";
import { clientMetadata } from "./client-metadata.ts";
import { offersOAuth, PATHS, SCOPE } from "./paths.ts";
import { providerOf } from "./provider.ts";
import { checkWaiting, storeClient } from "./records.ts";

type Serve = (platform: Stores & Outbound, ctx: Context) => Promise<void>;

/**
 * Serves what agents' hosts ask for that sign in by OAuth (docs/agents.md#sign-in-with-oauth): who authorizes them and where, the registration of
 * clients, and what the library serves. None of it is there without agents.
 */
export function oauthServer(platform: Stores & Outbound): Middleware {
  return async (ctx, next) => {
    const found = routeOf(ctx);
    if (found === null || !offersOAuth(platform)) return next();
    requestState(ctx).route = found.route;
    // Codes and states are in addresses and bodies.
    ctx.set({ "Cache-Control": "no-store", "Referrer-Policy": "no-referrer" });
    await oauthLimitsOf(platform).request(ctx);
    await found.serve(platform, ctx);
  };
}

const RESUME = new RegExp(`^${PATHS.authorize}/[\\w-]{1,64}$`);

function routeOf({ method, path }: Context): { route: string; serve: Serve } | null {
  const served = TABLE[`${method} ${path}`];
  if (served) return { route: path, serve: served };
  if (method === "GET" && RESUME.test(path)) return { route: `${PATHS.authorize}/{request}`, serve: pass };
  return null;
}

const TABLE: Readonly<Record<string, Serve>> = {
  [`GET ${PATHS.resource}`]: showResource,
  [`GET ${PATHS.resource}/mcp`]: showResource,
  [`GET ${PATHS.server}`]: showServer,
  [`POST ${PATHS.register}`]: register,
  [`GET ${PATHS.authorize}`]: authorize,
  [`POST ${PATHS.token}`]: pass,
  [`POST ${PATHS.revoke}`]: pass,
};

/** What is served at `/mcp`, and who authorizes for it (RFC 9728). */
async function showResource(platform: Stores, ctx: Context): Promise<void> {
  const { publicUrl } = platform.config;
  ctx.body = {
    resource: resourceOf(platform),
    authorization_servers: [publicUrl],
    scopes_supported: [SCOPE],
    bearer_methods_supported: ["header"],
    resource_name: "Headwater",
    resource_documentation: `${publicUrl}/docs/agents`,
  };
}

/** What the authorization server has and can (RFC 8414). By hand, because the library lists what OpenID providers have. */
async function showServer({ config: { publicUrl } }: Stores, ctx: Context): Promise<void> {
  ctx.body = {
    issuer: publicUrl,
    authorization_endpoint: publicUrl + PATHS.authorize,
    token_endpoint: publicUrl + PATHS.token,
    registration_endpoint: publicUrl + PATHS.register,
    revocation_endpoint: publicUrl + PATHS.revoke,
    scopes_supported: [SCOPE],
    response_types_supported: ["code"],
    response_modes_supported: ["query"],
    grant_types_supported: ["authorization_code", "refresh_token"],
    token_endpoint_auth_methods_supported: ["none"],
    revocation_endpoint_auth_methods_supported: ["none"],
    code_challenge_methods_supported: ["S256"],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
    service_documentation: `${publicUrl}/docs/agents`,
  };
}

/** Registers a client (RFC 7591). By hand, so that what strangers store is bounded, and no more of it than is used. */
async function register(platform: Stores & Outbound, ctx: Context): Promise<void> {
  await oauthLimitsOf(platform).registration(ctx);
  const metadata = clientMetadata((await readJson(ctx, LIMITS.oauthClientBytes.value)).value);
  if (typeof metadata === "string") return reject(ctx, metadata);
  const clientId = newToken();
  const client = {
    ...metadata,
    client_id: clientId,
    client_id_issued_at: unixSeconds(platform.clock()),
  };
  const provider = providerOf(platform);
  try {
    new (provider.Client as unknown as new (metadata: object) => unknown)(client);
  } catch (error) {
    const { expose, error_description: detail } = error as { expose?: boolean; error_description?: string };
    if (expose !== true) throw error;
    return reject(ctx, detail ?? "the metadata of the client can't be used");
  }
  await storeClient(platform, clientId, client);
  ctx.status = 201;
  ctx.body = client;
}

function reject(ctx: Context, detail: string): void {
  requestState(ctx).error = detail;
  ctx.status = 400;
  ctx.body = { error: "invalid_client_metadata", error_description: detail };
}

/** What is heeded of a request; its scope is always the one that there is, and a response is always a redirect. */
const HEEDED = [
  "client_id",
  "response_type",
  "redirect_uri",
  "state",
  "code_challenge",
  "code_challenge_method",
  "resource",
];

async function authorize(platform: Stores & Outbound, ctx: Context): Promise<void> {
  const given = new URLSearchParams(ctx.querystring);
  const heeded = new URLSearchParams([
    ...[...given].filter(([name]) => HEEDED.includes(name)),
    ["scope", SCOPE],
  ]);
  if (String(heeded).length > LIMITS.oauthRequestCharacters.value) {
    throw new AppError("too-large", "the parameters of the request are too long");
  }
  await checkWaiting(platform);
  ctx.req.url = `${PATHS.authorize}?${heeded}`;
  await pass(platform, ctx);
}

/** Leaves the request to the library, which responds by itself. */
async function pass(platform: Stores & Outbound, ctx: Context): Promise<void> {
  ctx.respond = false;
  await providerOf(platform).callback()(ctx.req, ctx.res);
}
