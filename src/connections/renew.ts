import { setTimeout as delay } from "node:timers/promises";
import { AppError } from "../lib/errors.ts";
import { failpoint } from "../lib/failpoint.ts";
import { newToken } from "../lib/ids.ts";
import { type App, Apps, type Connection, type ConnectionFault, Connections } from "../models/connection.ts";
import type { Calling } from "../platform.ts";
import { transaction } from "../store/connections/mongo.ts";
import { holdLock } from "../store/lock.ts";
import { presentConnection } from "./connections.ts";
import { ConnectionFailed, connectionGone, hasEnded, isFresh, mayRenew, notWorking } from "./look-up.ts";
import { noteConnectionBroken } from "./note-use.ts";
import { isFinal, refreshTokens, TokenError, type Tokens } from "./oauth/token-client.ts";
import type { ConnectionView } from "./schema.ts";
import { openSecrets, tokenFields } from "./secrets.ts";

/** Renewed by its holder for as long as it needs; longer than a request for tokens may take. */
const LOCK_MS = 30_000;
/** How long others wait for the process that renews, and how often they look. */
const WAIT_MS = 20_000;
const LOOK_EVERY_MS = 200;
/** After a renewal that failed and may succeed later. */
const RETRY_MS = 10_000;

/**
 * Returns a connection with a token that may be used. One process renews it at a time, and the others wait for what it
 * stores: an app that rotates refresh tokens takes each of them once, and one that is sent twice ends the connection
 * (docs/decisions/0038-connections.md). With `isForced` also a token that is fresh is replaced, unless that was done since
 * the connection was read; if that fails, it is returned as it is. Throws ConnectionFailed if there is no such token, and the
 * reason of `signal`.
 */
export async function renewConnection(
  platform: Calling,
  { _id, version }: Pick<Connection, "_id" | "version">,
  { signal, isForced = false }: { signal?: AbortSignal | undefined; isForced?: boolean } = {},
): Promise<Connection> {
  const isDone = (current: Connection) =>
    isFresh(current, platform.clock()) && !(isForced && current.version === version);
  const { redis, keys } = platform;
  const waitUntil = performance.now() + WAIT_MS;
  for (;;) {
    const lock = await holdLock(redis, keys.connectionRenewal(_id), newToken(), LOCK_MS);
    if (lock !== null) {
      try {
        return await renewAlone(platform, _id, isDone);
      } finally {
        await lock.release();
      }
    }
    await delay(LOOK_EVERY_MS, undefined, { ...(signal && { signal }) }).catch(() =>
      signal?.throwIfAborted(),
    );
    const current = await read(platform, _id);
    if (isDone(current)) return current;
    if (performance.now() > waitUntil) return usable(platform, current);
  }
}

async function read(platform: Calling, id: string): Promise<Connection> {
  const connection = await Connections(platform.mongo).findById(id).lean<Connection>();
  if (connection === null) throw connectionGone(id);
  return connection;
}

/** Returns the connection if its token may still be used. Throws ConnectionFailed. */
function usable(platform: Calling, connection: Connection): Connection {
  if (connection.health !== "broken" && !hasEnded(connection, platform.clock())) return connection;
  throw notWorking(connection);
}

/** Renews the token, unless that was done or tried a moment ago. */
async function renewAlone(
  platform: Calling,
  id: string,
  isDone: (connection: Connection) => boolean,
): Promise<Connection> {
  const before = await read(platform, id);
  const now = platform.clock();
  if (isDone(before)) return before;
  if (!mayRenew(before, now)) throw notWorking(before);
  const { refreshToken } = openSecrets(platform, before);
  if (refreshToken === undefined) return await fail(platform, before, NO_REFRESH_TOKEN);
  const app = await Apps(platform.mongo).findById(before.app).lean<App>();
  if (app === null) return await fail(platform, before, NOT_REGISTERED);
  // Noted before the app is asked: a process that finds this later knows that its reply may be lost.
  const noted = await Connections(platform.mongo).updateOne(
    { _id: id, version: before.version },
    { $set: { renewal_began_at_ms: now } },
  );
  if (noted.matchedCount === 0) return usable(platform, await read(platform, id));
  try {
    const tokens = await refreshTokens(platform, app, refreshToken);
    failpoint("tokens-renewed");
    return await store(platform, before, tokens);
  } catch (error) {
    if (error instanceof TokenError) return await fail(platform, before, failureOf(before, error));
    throw error;
  }
}

/**
 * Stores new tokens in place of those with which they were asked for. If those have been replaced since, by a consent or by a
 * process that took this one for dead, the stored ones are newer and stay.
 */
async function store(platform: Calling, before: Connection, tokens: Tokens): Promise<Connection> {
  const set = tokenFields(platform, tokens, openSecrets(platform, before));
  const stored = await persistently(() =>
    Connections(platform.mongo)
      .findOneAndUpdate(
        { _id: before._id, version: before.version },
        { $set: { ...set, version: before.version + 1 } },
        { returnDocument: "after" },
      )
      .lean<Connection>(),
  );
  if (stored === null) return usable(platform, await read(platform, before._id));
  await platform.routing.invalidate([stored.owner_id]);
  platform.metrics.count("connection_renewals_total", { outcome: "renewed" });
  return stored;
}

const STORE_ATTEMPTS = 5;
const STORE_PAUSE_MS = 2000;

/** Repeats what fails: these tokens are nowhere but in this process. */
async function persistently<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt === STORE_ATTEMPTS) throw error;
      await delay(STORE_PAUSE_MS);
    }
  }
}

interface Failure {
  code: string;
  message: string;
  isFinal: boolean;
  /** False if the app may have replaced the refresh token all the same. */
  hasResponded: boolean;
}

const NO_REFRESH_TOKEN: Failure = {
  code: "no-refresh-token",
  message: "its token has ended, and the app gave none to renew it with; reconnect it",
  isFinal: true,
  hasResponded: true,
};
const NOT_REGISTERED: Failure = {
  code: "app-not-registered",
  message: "the operator has removed its app",
  isFinal: false,
  hasResponded: true,
};

function failureOf(before: Connection, error: TokenError): Failure {
  const { code, message, hasResponded } = error;
  if (!isFinal(error)) return { code, message, isFinal: false, hasResponded };
  const cause =
    before.renewal_began_at_ms === null
      ? message
      : `${message}, after a renewal that was interrupted: the app may have replaced its token then`;
  return { code, message: `${cause}; reconnect it`, isFinal: true, hasResponded };
}

/**
 * Notes why a renewal failed. Returns the connection if its token may still be used; otherwise throws ConnectionFailed, and
 * an alert is raised if it has worked until now.
 */
async function fail(platform: Calling, before: Connection, failure: Failure): Promise<Connection> {
  const now = platform.clock();
  const fault: ConnectionFault = { code: failure.code, message: failure.message, at_ms: now };
  const health = failure.isFinal ? "broken" : hasEnded(before, now) ? "failing" : "working";
  const $set = {
    health,
    fault,
    retry_at_ms: now + RETRY_MS,
    ...(failure.hasResponded && { renewal_began_at_ms: null }),
  };
  const failed = await transaction(platform.mongo, async session => {
    const updated = await Connections(platform.mongo)
      .findOneAndUpdate(
        { _id: before._id, version: before.version },
        { $set },
        { returnDocument: "after", session },
      )
      .lean<Connection>();
    const hasStopped = before.health === "working" && health !== "working";
    if (updated && hasStopped) await noteConnectionBroken(platform, updated, fault, session);
    return updated;
  });
  // Its secrets were replaced since: what failed is of the earlier ones.
  if (failed === null) return usable(platform, await read(platform, before._id));
  await platform.routing.invalidate([failed.owner_id]);
  platform.metrics.count("connection_renewals_total", { outcome: health === "broken" ? "ended" : "failed" });
  return usable(platform, failed);
}

/** A token that is not older is not renewed by hand. */
const PAUSE_MS = 10_000;

/**
 * Renews the token of a connection although it may have time left, and forgets that earlier ones were rejected; one that is
 * a few seconds old stays. Throws `conflict` if only a consent helps, and `unavailable` if the app gives no token now, or gave
 * none a moment ago.
 */
export async function renewByHand(platform: Calling, connection: Connection): Promise<ConnectionView> {
  const { _id, owner_id, kind, health, renewed_at_ms } = connection;
  if (kind !== "oauth2")
    throw new AppError("conflict", "the connection has fields, no token: update its fields");
  if (health === "broken" || openSecrets(platform, connection).refreshToken === undefined) {
    throw new AppError("conflict", "the app gave nothing to renew the token with: reconnect the connection");
  }
  const now = platform.clock();
  const hasJustBeen = renewed_at_ms !== null && now < renewed_at_ms + PAUSE_MS && isFresh(connection, now);
  if (hasJustBeen) return presentConnection(platform, connection);
  if (!mayRenew(connection, now)) throw notRenewed(notWorking(connection).message);
  const renewed = await renewConnection(platform, connection, { isForced: true }).catch((error: unknown) => {
    throw error instanceof ConnectionFailed ? notRenewed(error.message, error) : error;
  });
  if (renewed.version === connection.version) {
    throw notRenewed(`the token was not renewed: ${renewed.fault?.message ?? "the app is away"}`);
  }
  await Connections(platform.mongo).updateOne(
    { _id, version: renewed.version },
    { $set: { rejection: null } },
  );
  await platform.routing.invalidate([owner_id]);
  return presentConnection(platform, renewed);
}

const notRenewed = (message: string, cause?: unknown) =>
  new AppError("unavailable", message, { cause, retryAfterMs: PAUSE_MS });
