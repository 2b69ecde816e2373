import type { Connection, ConnectionFault } from "../models/connection.ts";
import type { Platform } from "../platform.ts";

/**
 * Makes known that a connection has stopped working: once, until it works again. `fault` has no secret and nothing that the
 * app sent but its error code.
 */
export async function noteConnectionBroken(
  platform: Pick<Platform, "log">,
  { _id, owner_id, app, health }: Connection,
  { code }: ConnectionFault,
): Promise<void> {
  platform.log.warn({ connection_id: _id, owner_id, app, health, code }, "connection stopped working");
}
