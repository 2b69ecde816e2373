import type { ClientSession } from "mongoose";
import { type AlertDeps, raiseAlert } from "../alerts/raise.ts";
import type { Connection, ConnectionFault } from "../models/connection.ts";

/**
 * Raises the alert `connection.broken` for a connection that has stopped working, together with what `session` stores of it.
 * It is raised once, until the connection works again. `fault` has no secret and nothing that the app sent but its error code.
 */
export async function noteConnectionBroken(
  platform: AlertDeps,
  { _id, owner_id, app, name, health }: Connection,
  { code, message, at_ms }: ConnectionFault,
  session: ClientSession,
): Promise<void> {
  platform.log.warn({ connection_id: _id, owner_id, app, health, code }, "connection stopped working");
  await raiseAlert(
    platform,
    {
      ownerId: owner_id,
      type: "connection.broken",
      subject: { id: _id, name },
      sinceMs: at_ms,
      message: `The connection ${name} (${_id}) stopped working: ${message}.`,
      details: { app, health, code },
    },
    session,
  );
}
