import { unixSeconds } from "../lib/unix-seconds.ts";
import type { Connection } from "../models/connection.ts";
import type { Platform } from "../platform.ts";
import { appEndpointUrl } from "./events/endpoint.ts";
import type { ConnectionView } from "./schema.ts";

const seconds = (ms: number | null): number | null => (ms === null ? null : unixSeconds(ms));

/** Returns a connection as its owner sees it: without anything that is secret. */
export function presentConnection(
  platform: Pick<Platform, "config">,
  connection: Connection,
): ConnectionView {
  const { _id, user_id, app, kind, name, field_names, scope, health, fault, endpoint, events } = connection;
  return {
    ...{ id: _id, user_id, app, kind, name, field_names, scope, health },
    error: fault && { code: fault.code, message: fault.message, at: unixSeconds(fault.at_ms) },
    expires_at: seconds(connection.expires_at_ms),
    refreshed_at: seconds(connection.renewed_at_ms),
    endpoint_url: endpoint === undefined ? null : appEndpointUrl(platform, _id, endpoint),
    events: events ?? null,
    created_at: connection.created_at,
    updated_at: connection.updated_at,
  };
}
