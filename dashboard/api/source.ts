import { ApiError, type CallOptions, headwater, type Schemas } from "./client";

export type Summary = Schemas["EventSummary"];
export type Kind = "emit" | "error" | "log";

/** What a summary is, by its channel. */
export const kindOf = ({ metadata: { name } }: Summary): Kind =>
  name === "$errors" ? "error" : name === "$logs" ? "log" : "emit";

const LISTS = { emit: "events", error: "errors", log: "logs" } as const;

/** Reads what a source keeps of one kind, the newest first. */
export async function readSummaries(
  id: string,
  kind: Kind,
  query: { expand?: "event"; limit?: number; after?: string },
  call?: CallOptions,
): Promise<Summary[]> {
  return (await headwater.sources[LISTS[kind]](id, query, call)).data;
}

/** Returns the whole event of a summary whose data was cut. Cursors are event ids, and the page starts behind its cursor. */
export async function wholeEvent(summary: Summary): Promise<Summary> {
  const [ms = "0", sequence = "0"] = summary.id.split("-");
  const query = { expand: "event" as const, limit: 1, after: `${ms}-${Number(sequence) + 1}` };
  const [found] = await readSummaries(summary.metadata.emitter_id, kindOf(summary), query);
  return found?.id === summary.id ? found : summary;
}

/** Returns the event on which a run failed, by the id of its error; undefined once the error is no longer kept. */
export async function failedInput(id: string, errorId: string): Promise<unknown> {
  const summary = {
    id: errorId,
    indexed_at_ms: 0,
    event: {},
    metadata: { name: "$errors", emitter_id: id, emit_id: "" },
  };
  return (await wholeEvent(summary)).event.original_event;
}

/** What a summary's event is, without the envelope of its kind. */
export const payloadOf = ({ event }: Pick<Summary, "event">): unknown =>
  "raw_event" in event ? event.raw_event : event;

/** The component of a source; null where its code belongs to another member. */
export const readComponent = (id: string, call?: CallOptions) =>
  headwater.components.get(id, call).catch(error => {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  });
