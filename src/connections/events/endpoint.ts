import { INGRESS_PREFIX, ingressBase } from "../../lib/hosts.ts";
import { isId, isToken, newToken } from "../../lib/ids.ts";
import { type Connection, Connections } from "../../models/connection.ts";
import type { Platform } from "../../platform.ts";

/** Returns the public URL at which the events of a connection's app arrive. */
export const appEndpointUrl = (
  platform: Pick<Platform, "config">,
  connectionId: string,
  endpoint: string,
): string => `${ingressBase(platform)}${INGRESS_PREFIX}/${connectionId}-${endpoint}`;

/** Returns which connection's endpoint the last part of a URL's path names; null if it is none. */
export function parseAppEndpoint(name: string): { connectionId: string; token: string } | null {
  const [connectionId = "", token = "", ...others] = name.split("-");
  const isOne = others.length === 0 && isId("apn", connectionId) && isToken(token);
  return isOne ? { connectionId, token } : null;
}

/** Returns true if a token is that of a connection's endpoint, or of the one before for as long as that works. */
export const isItsEndpoint = (
  { endpoint, old_endpoint }: Pick<Connection, "endpoint" | "old_endpoint">,
  token: string,
  nowMs: number,
): boolean => token === endpoint || (token === old_endpoint?.name && nowMs < old_endpoint.until_ms);

/**
 * Returns the last part of a connection's endpoint, which is made when a source first listens to its app's events; undefined if the
 * connection has been deleted.
 */
export async function endpointOfConnection(
  platform: Pick<Platform, "mongo" | "routing">,
  ownerId: string,
  connectionId: string,
): Promise<string | undefined> {
  const filter = { _id: connectionId, owner_id: ownerId };
  const made = await Connections(platform.mongo).updateOne(
    { ...filter, endpoint: null },
    { $set: { endpoint: newToken() } },
  );
  if (made.modifiedCount > 0) await platform.routing.invalidate([ownerId]);
  return (await Connections(platform.mongo).findOne(filter, { endpoint: 1 }).lean())?.endpoint;
}
