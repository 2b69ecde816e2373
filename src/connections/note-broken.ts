import { raiseAlert } from "../alerts/raise.ts";
import type { Connection, ConnectionFault } from "../models/connection.ts";
import type { Platform } from "../platform.ts";

/**
 * Makes known that a connection has stopped working, to its owner too: once, until it works again. `fault` has no secret and
 * nothing that the app sent but its error code. Never throws: what a run gets does not depend on it.
 */
export async function noteConnectionBroken(
  platform: Pick<Platform, "log" | "mongo" | "clock" | "metrics">,
  { _id, owner_id, app, name, health, version, renewed_at_ms, created_at }: Connection,
  { code }: ConnectionFault,
): Promise<void> {
  const fields = { connection_id: _id, owner_id, app, health, code };
  platform.log.warn(fields, "connection stopped working");
  const does = health === "broken" ? "must be reconnected" : "is tried again";
  try {
    await raiseAlert(platform, {
      ownerId: owner_id,
      type: "connection.broken",
      subject: { id: _id, name },
      // The same for all processes: the version grows with each renewal, and when it is reconnected.
      part: String(version),
      sinceMs: renewed_at_ms ?? created_at * 1000,
      message: `connection "${name}" (${_id}) to ${app} stopped working: ${code}; it ${does}`,
      details: { app, health, code },
    });
  } catch (error) {
    platform.log.warn({ ...fields, err: error }, "an alert of a connection can't be raised");
  }
}
