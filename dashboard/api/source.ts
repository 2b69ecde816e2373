import { http, read, readData, type Schemas } from "./client";

export type Summary = Schemas["EventSummary"];

/** Returns the whole event of a summary whose data was cut. Cursors are event ids, and the page starts behind its cursor. */
export async function wholeEvent(summary: Summary): Promise<Summary> {
  const { emitter_id: id, name } = summary.metadata;
  const [ms = "0", sequence = "0"] = summary.id.split("-");
  const query = { expand: "event" as const, limit: 1, after: `${ms}-${Number(sequence) + 1}` };
  const params = { path: { id }, query };
  const { data } = await read(
    name === "$errors"
      ? http.GET("/sources/{id}/$errors/event_summaries", { params })
      : name === "$logs"
        ? http.GET("/sources/{id}/$logs/event_summaries", { params })
        : http.GET("/sources/{id}/event_summaries", { params }),
  );
  return data[0]?.id === summary.id ? data[0] : summary;
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
export const readComponent = (id: string, signal?: AbortSignal) =>
  readData(http.GET("/components/{id}", { params: { path: { id } }, ...(signal && { signal }) })).catch(
    error => {
      if ((error as { status?: number }).status === 404) return null;
      throw error;
    },
  );
