import type { Connection } from "../models/connection.ts";
import { hostError } from "../sandbox/host-error.ts";
import type { CallError } from "../sandbox/protocol.ts";

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
