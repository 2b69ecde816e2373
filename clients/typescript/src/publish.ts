import type { Connection } from "./connection.ts";
import { HeadwaterError } from "./errors.ts";
import type { CallOptions } from "./options.ts";
import type { NewEvent, Published } from "./schema.ts";

/** How long a request that builds a component may take: its npm packages are installed first. */
export const BUILD_MS = 280_000;

/**
 * Publishes one event or a batch as a workflow (`p_…`) or as a source (`dc_…`). All of it is accepted, or nothing; the ids
 * that are returned are those of the events, in order. A text is sent as it is: JSON in which numbers are exact that are not in
 * JavaScript.
 */
export async function publish(
  connection: Connection,
  emitterId: string,
  events: NewEvent | readonly NewEvent[] | string,
  options?: CallOptions,
): Promise<Published> {
  const body = (
    typeof events === "string" ? events : Array.isArray(events) ? { events: [...events] } : { ...events }
  ) as NewEvent;
  if (emitterId.startsWith("dc_")) {
    return connection.send("post", "/sources/{id}/events", { params: { id: emitterId }, body }, options);
  }
  if (!emitterId.startsWith("p_")) {
    throw new HeadwaterError("publish needs the id of a workflow (p_…) or of a source (dc_…)");
  }
  const params = { workflow_id: emitterId };
  return connection.send("post", "/workflows/{workflow_id}/events", { params, body }, options);
}
