import type { EventLog } from "../../src/store/events/event-log.ts";
import type { StoredSummary } from "../../src/store/events/event-summary.ts";
import type { EventStream } from "../../src/store/keys.ts";

/** Stores one summary. Returns its event id, whether it was new, and the summaries that it displaced. */
export async function append(log: EventLog, emitterId: string, stream: EventStream, summary: StoredSummary) {
  const { events, trimmed } = await log.append(emitterId, stream, [{ summary }]);
  return { eventId: events[0]?.eventId ?? "", isNew: events[0]?.isNew ?? false, trimmed };
}
