import { ApiError, type CallOptions, headwater } from "./client";
import { wholeEvent } from "./source";

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

/** The component of a source; null where its code belongs to another member. */
export const readComponent = (id: string, call?: CallOptions) =>
  headwater.components.get(id, call).catch(error => {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  });
