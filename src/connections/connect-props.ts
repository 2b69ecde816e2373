import { type Connection, Connections } from "../models/connection.ts";
import type { Platform } from "../platform.ts";
import { connectedProps, type StoredProps } from "../props/configure.ts";
import type { CallError, DescribedProp } from "../sandbox/protocol.ts";
import { callErrorOf, connectionGone, notWorking } from "./connection-failed.ts";
import { isFresh, mayRenew } from "./freshness.ts";
import { type RenewDeps, renewConnection } from "./renew.ts";
import { openSecrets } from "./secrets.ts";

export type ConnectDeps = RenewDeps;

/**
 * Returns a source's values with the credentials of the connections that they name, as `$auth`, each renewed if it is about
 * to end (docs/connections.md). Without a connection it costs nothing; with one that is fresh, a look-up in the routing
 * cache, which the caller has refreshed. Throws ConnectionFailed, the reason of `signal`, and what a store throws.
 */
export async function connectProps(
  platform: ConnectDeps,
  ownerId: string,
  { props, values }: { props: DescribedProp[]; values: StoredProps },
  signal?: AbortSignal,
): Promise<StoredProps> {
  const connected = connectedProps(props, values);
  if (connected.length === 0) return values;
  const pairs = await Promise.all(
    connected.map(async ({ prop, connectionId }) => {
      const $auth = await authOf(platform, ownerId, connectionId, signal);
      return [prop.name, { $auth }] as const;
    }),
  );
  return { ...values, ...Object.fromEntries(pairs) };
}

/**
 * As `connectProps`, for a call that begins with no look-up in the routing cache. Returns the error of the call if a connection
 * gives no credentials.
 */
export async function tryConnectProps(
  platform: ConnectDeps,
  ownerId: string,
  described: { props: DescribedProp[]; values: StoredProps },
): Promise<{ values: StoredProps } | { error: CallError }> {
  await platform.routing.refresh();
  try {
    return { values: await connectProps(platform, ownerId, described) };
  } catch (error) {
    return { error: callErrorOf(error) };
  }
}

async function authOf(
  platform: ConnectDeps,
  ownerId: string,
  id: string,
  signal: AbortSignal | undefined,
): Promise<Record<string, string>> {
  const known = await lookUpConnection(platform, id);
  if (known?.owner_id !== ownerId) throw connectionGone(id);
  const now = platform.clock();
  const isKnownToFail = !isFresh(known, now) && !mayRenew(known, now);
  if (isKnownToFail) throw notWorking(known);
  const connection = isFresh(known, now) ? known : await renewConnection(platform, known, signal);
  const { fields, accessToken } = openSecrets(platform, connection);
  return { ...fields, ...(accessToken !== undefined && { oauth_access_token: accessToken }) };
}

/**
 * Returns a connection from the routing cache; undefined if it does not exist. Every change of one invalidates its account's
 * part of the cache.
 */
export async function lookUpConnection(
  platform: Pick<Platform, "mongo" | "routing">,
  id: string,
): Promise<Connection | undefined> {
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
