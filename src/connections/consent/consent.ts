import { canAccess } from "../../accounts/access.ts";
import { checkCount } from "../../accounts/limits.ts";
import { hashOfToken } from "../../accounts/sessions/sessions.ts";
import { AppError, invalidField } from "../../lib/errors.ts";
import { isSameSecret, newId } from "../../lib/ids.ts";
import { unixSeconds } from "../../lib/time.ts";
import { LIMITS } from "../../limits/catalogue.ts";
import { type App, Apps, type Connection, Connections } from "../../models/connection.ts";
import type { OpenIdFault } from "../../openid/openid-error.ts";
import type { Outbound, Stores } from "../../platform.ts";
import { authorizeUrl, exchangeCode, newChallenge, TokenError, type Tokens } from "../oauth/token-client.ts";
import type { ConsentView } from "../schema.ts";
import { tokenFields } from "../secrets.ts";
import {
  type ConsentRequest,
  createTicket,
  type PendingConsent,
  storePending,
  usePending,
  useTicket,
} from "./ticket.ts";

/** Where apps send browsers back to; the operator names it to each app. */
export const RETURN_PATH = "/connections/return";

/** Returns the app that a consent is for. Throws ConsentFailed. */
export async function appOf({ mongo }: Stores, { app }: Pick<ConsentRequest, "app">): Promise<App> {
  const found = await Apps(mongo).findById(app).lean<App>();
  if (found === null) throw new ConsentFailed("no-app");
  return found;
}

/**
 * Uses a link up and returns the app's address, to which the browser goes that has `browserToken` in its cookie. Throws
 * ConsentFailed, and `unavailable`.
 */
export async function beginConsent(
  platform: Stores & Outbound,
  ticket: string,
  browserToken: string,
): Promise<string> {
  const request = await useTicket(platform, ticket);
  if (request === null) throw new ConsentFailed("expired");
  const app = await appOf(platform, request);
  const challenge = newChallenge();
  await storePending(platform, { request, challenge, browserHash: hashOfToken(browserToken) });
  return await authorizeUrl(platform, app, challenge, platform.config.publicUrl + RETURN_PATH);
}

/** Below it are the pages on which a person agrees to a connection; the last part of their path is a ticket. */
export const CONSENT_PATH = "/connections/consent";

/**
 * Asks for a new connection: returns the address of the page on which a person agrees to it, and the id that it will have.
 * Nothing is stored of it before. Throws `invalid` for an app that is not registered, `limit-reached`, `rate-limited`,
 * `conflict` and `unavailable`.
 */
export async function askForConnection(
  platform: Stores,
  { ownerId, userId, app, name }: Pick<ConsentRequest, "ownerId" | "userId" | "app"> & { name?: string },
): Promise<ConsentView> {
  await checkCount(platform, ownerId, "connections");
  const registered = await Apps(platform.mongo).findById(app).lean<App>();
  if (registered === null) {
    throw invalidField(
      "body",
      "app",
      "the operator has registered no such app: docs/connections.md says how",
    );
  }
  const connectionId = newId("apn", platform.clock());
  return await ask(platform, {
    ...{ connectionId, ownerId, userId, app, isReconnect: false },
    name: name ?? registered.name,
  });
}

/** As `askForConnection`, for new tokens of one that exists. Throws `conflict` for one that needs no consent. */
export async function askToReconnect(
  platform: Stores,
  connection: Connection,
  userId: string,
): Promise<ConsentView> {
  const { _id: connectionId, owner_id: ownerId, app, name, kind } = connection;
  if (kind !== "oauth2") {
    throw new AppError("conflict", "the connection has fields, not a consent: update its fields");
  }
  if (!(await Apps(platform.mongo).exists({ _id: app }))) {
    throw new AppError("conflict", `the operator has removed the app ${app}`);
  }
  return await ask(platform, { connectionId, ownerId, userId, app, name, isReconnect: true });
}

async function ask(platform: Stores, request: ConsentRequest): Promise<ConsentView> {
  const { token, expiresAtMs } = await createTicket(platform, request);
  return {
    connection_id: request.connectionId,
    url: `${platform.config.publicUrl}${CONSENT_PATH}/${token}`,
    expires_at: unixSeconds(expiresAtMs),
  };
}

let waiting = 0;

/**
 * Stores what the app gives for the code with which a browser returned, as a new connection or as new tokens of an old one.
 * `query` is that of the return; `browserToken` what the browser has in its cookie. The state is used up, whatever happens.
 * Throws ConsentFailed, and `unavailable`.
 */
export async function finishConsent(
  platform: Stores & Outbound,
  query: URLSearchParams,
  browserToken: string,
): Promise<ConsentRequest> {
  const pending = await usePending(platform, query.get("state") ?? "");
  if (pending === null) throw new ConsentFailed("expired");
  const { request, browserHash } = pending;
  if (!isSameSecret(hashOfToken(browserToken), browserHash)) throw new ConsentFailed("other-browser");
  if (!(await canAccess(platform, request.userId, request.ownerId, "use")))
    throw new ConsentFailed("no-access");
  const tokens = await exchange(platform, query, pending);
  await (request.isReconnect ? replaceTokens : insert)(platform, request, tokens);
  await platform.routing.invalidate([request.ownerId]);
  return request;
}

/** What OAuth says in a return; anything else is not passed on. */
const PARAMETERS = ["code", "state", "iss", "error"];

async function exchange(
  platform: Stores & Outbound,
  query: URLSearchParams,
  { request, challenge }: PendingConsent,
): Promise<Tokens> {
  const app = await appOf(platform, request);
  const returned = new URL(platform.config.publicUrl + RETURN_PATH);
  for (const name of PARAMETERS)
    for (const value of query.getAll(name)) returned.searchParams.append(name, value);
  if (waiting >= LIMITS.consentReturns.value) throw new ConsentFailed("busy");
  waiting += 1;
  try {
    return await exchangeCode(platform, app, returned, challenge);
  } catch (error) {
    throw error instanceof TokenError ? new ConsentFailed(error.fault, error.code) : error;
  } finally {
    waiting -= 1;
  }
}

async function insert(platform: Stores & Outbound, request: ConsentRequest, tokens: Tokens): Promise<void> {
  const { connectionId, ownerId, userId, app, name } = request;
  await checkCount(platform, ownerId, "connections").catch((error: unknown) => {
    const isReached = error instanceof AppError && error.code === "limit-reached";
    throw isReached ? new ConsentFailed("limit-reached") : error;
  });
  const now = unixSeconds(platform.clock());
  const connection: Connection = {
    ...{ _id: connectionId, owner_id: ownerId, user_id: userId, app, name, kind: "oauth2" },
    scope: null,
    ...tokenFields(platform, tokens),
    version: 1,
    ...{ created_at: now, updated_at: now },
  };
  await Connections(platform.mongo).insertOne(connection);
}

/** Not compared with a version: a renewal that is under way loses against the consent. */
async function replaceTokens(
  platform: Stores & Outbound,
  { connectionId, ownerId }: ConsentRequest,
  tokens: Tokens,
): Promise<void> {
  const { matchedCount } = await Connections(platform.mongo).updateOne(
    { _id: connectionId, owner_id: ownerId },
    {
      $set: {
        ...{ scope: null, ...tokenFields(platform, tokens), rejection: null },
        updated_at: unixSeconds(platform.clock()),
      },
      $inc: { version: 1 },
    },
  );
  if (matchedCount === 0) throw new ConsentFailed("gone");
}

/** Why a consent led to no connection; the page has a sentence for each. */
export type ConsentProblem =
  | OpenIdFault
  /** The link or the return was used before, is too old, or never existed. */
  | "expired"
  /** The consent began in another browser. */
  | "other-browser"
  /** Who asked for it is no longer a member of the organization. */
  | "no-access"
  /** The operator has removed the app. */
  | "no-app"
  /** The connection was deleted while the person was at the app. */
  | "gone"
  /** The account has as many connections as its plan allows. */
  | "limit-reached"
  /** Too many returns wait for their apps. */
  | "busy";

/** A consent that led to no connection. `code` is the app's error code. */
export class ConsentFailed extends Error {
  readonly problem: ConsentProblem;
  readonly code: string | undefined;

  constructor(problem: ConsentProblem, code?: string) {
    super(code === undefined ? problem : `${problem}: ${code}`);
    this.name = "ConsentFailed";
    this.problem = problem;
    this.code = code;
  }
}
