import { checkUrl, checkUrlText } from "../../egress/check-url.ts";
import { AppError, invalidField, notFound } from "../../lib/errors.ts";
import { isLoopback } from "../../lib/hosts.ts";
import { APP_SLUG } from "../../lib/slug.ts";
import { unixSeconds } from "../../lib/time.ts";
import { LIMITS } from "../../limits/catalogue.ts";
import { type App, type AppEventRules, Apps, Connections, type TokenAuth } from "../../models/connection.ts";
import type { Stores } from "../../platform.ts";
import { appInRouting, checkEventRules } from "../app-events.ts";
import type { AppView } from "../schema.ts";
import { presentSettings, sealAppVerify } from "../verify.ts";

/** What an operator registers of an app. */
export interface AppSettings {
  slug: string;
  name?: string | undefined;
  authorizeUrl: string;
  tokenUrl: string;
  issuer?: string | undefined;
  clientId: string;
  /** Absent for a public client. */
  clientSecret?: string | undefined;
  tokenAuth: TokenAuth;
  /** Separated by blanks. */
  scopes?: string | undefined;
  authorizeParams?: Record<string, string> | undefined;
  /** How the events that it sends are read. */
  events?: AppEventRules | undefined;
  /** How the requests are verified that bring them: `VerifySettings`. */
  verify?: unknown;
}

/** What the flow itself sets (RFC 6749, RFC 7636). */
const RESERVED = new Set([
  ...["response_type", "client_id", "client_secret", "redirect_uri", "scope", "state"],
  ...["code_challenge", "code_challenge_method", "response_mode", "request", "request_uri"],
]);
const MAX_CHARACTERS = 2048;
const MAX_PARAMS = 20;

/**
 * Registers an app, or replaces what is registered of it; connections that exist stay. Returns it without its secret. Throws
 * `invalid` that names what is wrong, and `limit-reached`.
 */
export async function setApp({ mongo, secrets, clock, routing }: Stores, settings: AppSettings) {
  const app = checked(settings);
  const { slug, clientSecret } = settings;
  const verify = settings.verify === undefined ? null : sealAppVerify({ secrets }, settings.verify);
  const isNew = (await Apps(mongo).exists({ _id: slug })) === null;
  if (isNew && (await Apps(mongo).estimatedDocumentCount()) >= LIMITS.apps.value) {
    throw new AppError("limit-reached", `there are ${LIMITS.apps.value} apps already`);
  }
  const now = unixSeconds(clock());
  const client_secret = clientSecret === undefined ? null : secrets.seal(clientSecret);
  await Apps(mongo).updateOne(
    { _id: slug },
    { $set: { ...app, client_secret, verify, updated_at: now }, $setOnInsert: { created_at: now } },
    { upsert: true },
  );
  await routing.invalidate([appInRouting(slug)]);
  const shown = presentSettings({ secrets }, { verify });
  return { slug, ...app, verify: shown, has_client_secret: client_secret !== null };
}

type Checked = Omit<App, "_id" | "client_secret" | "verify" | "created_at" | "updated_at">;

function checked(settings: AppSettings): Checked {
  const { slug, name = slug, clientId, clientSecret, tokenAuth, scopes = "", issuer } = settings;
  const fail = (path: string, message: string) => invalidField("body", path, message);
  if (!new RegExp(APP_SLUG).test(slug)) throw fail("slug", "must be like github or google_sheets");
  if (clientId === "" || clientId.length > MAX_CHARACTERS) throw fail("client id", "is missing or too long");
  if ((tokenAuth === "none") !== (clientSecret === undefined)) {
    throw fail("token auth", "must be none without a client secret, and basic or post with one");
  }
  if (name.length > 128 || scopes.length > MAX_CHARACTERS) throw fail("name, scopes", "are too long");
  if (issuer !== undefined) checkUrlText(issuer, { in: "body", path: "issuer" });
  if (settings.events) checkEventRules(settings.events);
  return {
    name,
    authorize_url: safeUrl("authorize url", settings.authorizeUrl),
    token_url: safeUrl("token url", settings.tokenUrl),
    issuer: issuer ?? null,
    client_id: clientId,
    token_auth: tokenAuth,
    scopes: scopes.split(/\s+/).filter(Boolean).join(" "),
    authorize_params: checkedParams(settings.authorizeParams ?? {}),
    events: settings.events ?? null,
  };
}

/** Codes and tokens must not travel in the clear. */
function safeUrl(path: string, text: string): string {
  const url = checkUrl(text, { in: "body", path });
  if (text.length > MAX_CHARACTERS) throw invalidField("body", path, "is too long");
  if (url.hash !== "") throw invalidField("body", path, "must not have a fragment");
  if (url.protocol === "https:" || isLoopback(url.hostname)) return url.href;
  throw invalidField("body", path, "must be an https URL, or http on this machine");
}

function checkedParams(params: Record<string, string>): App["authorize_params"] {
  const pairs = Object.entries(params);
  if (pairs.length > MAX_PARAMS)
    throw invalidField("body", "authorize params", `must be at most ${MAX_PARAMS}`);
  for (const [name, value] of pairs) {
    const path = `authorize param ${name.slice(0, 64)}`;
    if (RESERVED.has(name)) throw invalidField("body", path, "is set by Headwater itself");
    if (!/^[\w.-]{1,64}$/.test(name) || value.length > 512) throw invalidField("body", path, "is not valid");
  }
  return pairs;
}

/** Returns the apps that accounts can connect, by name, without anything that is the operator's. */
export async function listApps({ mongo, secrets }: Stores): Promise<AppView[]> {
  const apps = await Apps(mongo)
    .find({}, { name: 1, scopes: 1, events: 1, verify: 1 })
    .sort({ _id: 1 })
    .limit(LIMITS.apps.value)
    .lean();
  return apps
    .map(({ _id, name, scopes, events, verify }) => ({
      ...{ slug: _id, name, scopes: scopes.split(" ").filter(Boolean) },
      events: events ?? null,
      verify: presentSettings({ secrets }, { verify: verify ?? null }),
    }))
    .sort((a, b) => a.name.localeCompare(b.name));
}

/**
 * Deletes an app. Its connections stay, and fail when their tokens end. Returns how many there are. Throws `not-found`.
 */
export async function deleteApp(
  { mongo, routing }: Stores,
  slug: string,
): Promise<{ slug: string; connections: number }> {
  const { deletedCount } = await Apps(mongo).deleteOne({ _id: slug });
  if (deletedCount === 0) throw notFound("app");
  await routing.invalidate([appInRouting(slug)]);
  return { slug, connections: await Connections(mongo).countDocuments({ app: slug, kind: "oauth2" }) };
}
