import { type Connection, Connections } from "../models/connection.ts";
import type { Stores } from "../platform.ts";
import { type CallError, hostError } from "../sandbox/protocol.ts";

/**
 * Returns a connection from the routing cache; undefined if it does not exist. Every change of one invalidates its account's
 * part of the cache.
 */
export async function lookUpConnection(platform: Stores, id: string): Promise<Connection | undefined> {
  const found = await platform.routing.lookUp(
    "connection",
    [id],
    async ids => {
      const connections = await Connections(platform.mongo)
        .find({ _id: { $in: ids } })
        .lean<Connection[]>();
      return new Map(connections.map(connection => [connection._id, connection]));
    },
    ({ owner_id }) => [owner_id],
    ({ secrets }) => secrets.length,
  );
  return found.get(id);
}

/** A token is renewed before a run when less than this is left of it. Milliseconds. */
const MARGIN_MS = 5 * 60_000;

/** Returns true if a connection's credentials may be used without renewing them first. */
export function isFresh(connection: Connection, nowMs: number): boolean {
  const { health, renew_from_ms } = connection;
  if (health === "broken") return false;
  const isDue = isRejected(connection) || (renew_from_ms !== null && nowMs >= renew_from_ms);
  if (!isDue) return true;
  return !hasEnded(connection, nowMs) && !mayRenew(connection, nowMs);
}

/** Returns true unless a renewal of the connection has failed for good, or a moment ago. */
export const mayRenew = ({ health, retry_at_ms }: Connection, nowMs: number): boolean =>
  health !== "broken" && (retry_at_ms === null || nowMs >= retry_at_ms);

/** Returns true if its app has rejected a connection's access token, which is to be renewed. */
export const isRejected = ({ rejection, version }: Pick<Connection, "rejection" | "version">): boolean =>
  rejection?.version === version;

/** Returns true if a connection's access token has ended, or counts as ended. */
export const hasEnded = (connection: Connection, nowMs: number): boolean =>
  isRejected(connection) || (connection.expires_at_ms !== null && nowMs >= connection.expires_at_ms);

/**
 * Returns from when a token that lives so long is renewed: 5 minutes before its end. One that lives less than 10 minutes would
 * then be renewed before most runs, so that is done when half of its life is over. Without a refresh token it is used to its
 * end.
 */
export function renewFromMs(nowMs: number, livesMs: number, isRenewable: boolean): number {
  return isRenewable ? nowMs + livesMs - Math.min(MARGIN_MS, livesMs / 2) : nowMs + livesMs;
}

/** The code of runs and hooks that were not executed because their connection does not work. */
const CONNECTION_FAILED = "Connection Failed";

/**
 * A connection that gives no credentials at the moment, or never again. `message` is for the source's owner: it names the
 * connection and the app's error code, and has nothing else of what the app sent.
 */
export class ConnectionFailed extends Error {
  constructor(message: string) {
    super(message);
    this.name = "ConnectionFailed";
  }
}

/** The error of a connection that was deleted, or that another account has. */
export const connectionGone = (id: string): ConnectionFailed =>
  new ConnectionFailed(`the connection ${id} no longer exists; configure another one`);

/** The error of a connection that does not work, as its `fault` says. */
export const notWorking = ({ _id, name, fault }: Pick<Connection, "_id" | "name" | "fault">) =>
  new ConnectionFailed(`the connection ${name} (${_id}) does not work: ${fault?.message ?? "unknown"}`);

/** Returns the error of a call that has no credentials. Throws every other error. */
export function callErrorOf(error: unknown): CallError {
  if (error instanceof ConnectionFailed) return hostError(CONNECTION_FAILED, error.message);
  throw error;
}
