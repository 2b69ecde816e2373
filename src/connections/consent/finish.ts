import { canAccess } from "../../accounts/access.ts";
import { checkCount } from "../../accounts/limits.ts";
import { hashOfToken } from "../../accounts/sessions/sessions.ts";
import { AppError } from "../../lib/errors.ts";
import { isSameSecret } from "../../lib/ids.ts";
import { unixSeconds } from "../../lib/time.ts";
import { LIMITS } from "../../limits/catalogue.ts";
import { type Connection, Connections } from "../../models/connection.ts";
import type { Platform } from "../../platform.ts";
import { exchangeCode, TokenError, type Tokens } from "../oauth/token-client.ts";
import { tokenFields } from "../secrets.ts";
import { appOf, RETURN_PATH } from "./begin.ts";
import { ConsentFailed } from "./consent-failed.ts";
import { type ConsentRequest, type PendingConsent, usePending } from "./ticket.ts";

type Deps = Pick<
  Platform,
  "mongo" | "redis" | "keys" | "secrets" | "clock" | "routing" | "config" | "egress"
>;

let waiting = 0;

/**
 * Stores what the app gives for the code with which a browser returned, as a new connection or as new tokens of an old one.
 * `query` is that of the return; `browserToken` what the browser has in its cookie. The state is used up, whatever happens.
 * Throws ConsentFailed, and `unavailable`.
 */
export async function finishConsent(
  platform: Deps,
  query: URLSearchParams,
  browserToken: string,
): Promise<ConsentRequest> {
  const pending = await usePending(platform, query.get("state") ?? "");
  if (pending === null) throw new ConsentFailed("expired");
  const { request, browserHash } = pending;
  if (!isSameSecret(hashOfToken(browserToken), browserHash)) throw new ConsentFailed("other-browser");
  if (!(await canAccess(platform, request.userId, request.ownerId))) throw new ConsentFailed("no-access");
  const tokens = await exchange(platform, query, pending);
  await (request.isReconnect ? replaceTokens : insert)(platform, request, tokens);
  await platform.routing.invalidate([request.ownerId]);
  return request;
}

/** What OAuth says in a return; anything else is not passed on. */
const PARAMETERS = ["code", "state", "iss", "error"];

async function exchange(
  platform: Deps,
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

async function insert(platform: Deps, request: ConsentRequest, tokens: Tokens): Promise<void> {
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
  platform: Deps,
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
