import { PassThrough, type Readable } from "node:stream";
import type { Platform } from "../platform.ts";
import { eventScore } from "../store/event-id.ts";
import { type EventSummary, parseFeedMessage, STREAMS } from "../store/event-log.ts";

const HEARTBEAT_MS = 15_000;
/** A reader that lets this much pile up is cut off; it resumes by `Last-Event-ID`. */
const PILE_BYTES = 1024 * 1024;

/** The SSE event name: what `curl -N` shows before each line of data. */
function kindOf(summary: EventSummary): "emit" | "error" | "log" {
  if (summary.metadata.name === "$errors") return "error";
  return summary.metadata.name === "$logs" ? "log" : "emit";
}

const frame = (summary: EventSummary) =>
  `id: ${summary.id}\nevent: ${kindOf(summary)}\ndata: ${JSON.stringify(summary)}\n\n`;

/**
 * An emitter's events, errors and logs as they happen, as server-sent events with a heartbeat each 15 s. With
 * `lastEventId` it begins with what is still stored after that one, so a reader that reconnects misses nothing of the
 * last 100 of each.
 */
export async function watchEvents(
  platform: Pick<Platform, "eventLog" | "feed" | "keys">,
  emitterId: string,
  lastEventId: string | null,
): Promise<Readable> {
  const out = new PassThrough();
  let waiting: EventSummary[] | null = [];
  const send = (summary: EventSummary) => {
    if (out.destroyed) return;
    if (out.writableLength > PILE_BYTES) out.destroy();
    else out.write(frame(summary));
  };
  const feed = await platform.feed();
  // Heard from before the look back, so that nothing falls between the two.
  const stop = await feed.listen(platform.keys.eventFeed(emitterId), message => {
    const summary = parseFeedMessage(message);
    if (waiting) waiting.push(summary);
    else send(summary);
  });
  const heartbeat = setInterval(() => out.write(": heartbeat\n\n"), HEARTBEAT_MS);
  out.once("close", () => {
    clearInterval(heartbeat);
    void stop().catch(() => undefined);
  });
  out.write(": watching\n\n");
  const sent = new Set<string>();
  if (lastEventId !== null) {
    const missed = await Promise.all(
      STREAMS.map(stream => platform.eventLog.since(emitterId, stream, lastEventId)),
    );
    const inOrder = missed.flat().sort((a, b) => (eventScore(a.id) ?? 0) - (eventScore(b.id) ?? 0));
    for (const summary of inOrder) {
      sent.add(summary.id);
      send(summary);
    }
  }
  const heard = waiting;
  waiting = null;
  for (const summary of heard) if (!sent.has(summary.id)) send(summary);
  return out;
}
