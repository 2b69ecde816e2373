import { PassThrough, type Readable } from "node:stream";
import { type LimitDeps, limitsOf } from "../accounts/limits.ts";
import { AppError } from "../lib/errors.ts";
import { eventScore } from "../lib/event-id.ts";
import { LIMITS } from "../limits/catalogue.ts";
import type { Platform } from "../platform.ts";
import { type EventSummary, parseFeedMessage, STREAMS } from "../store/event-log.ts";

const HEARTBEAT_MS = 15_000;
/** A reader that falls this far behind is disconnected; it resumes by `Last-Event-ID`. */
const MAX_BACKLOG_BYTES = LIMITS.streamBacklogBytes.value;

/** In one web process, by account: each stream holds a socket and its backlog for as long as it likes. */
const openStreams = new Map<string, number>();

/** Counts an open stream of a user; returns the function that ends it. Throws `rate-limited` for one too many. */
function openStream(userId: string, most: number): () => void {
  const count = openStreams.get(userId) ?? 0;
  if (count >= most) {
    const message = `this account already has ${most} open streams`;
    throw new AppError("rate-limited", message, { retryAfterMs: HEARTBEAT_MS });
  }
  openStreams.set(userId, count + 1);
  return () => {
    const left = (openStreams.get(userId) ?? 1) - 1;
    if (left > 0) openStreams.set(userId, left);
    else openStreams.delete(userId);
  };
}

/** The SSE event name, which `curl -N` shows before each line of data. */
function kindOf(summary: EventSummary): "emit" | "error" | "log" {
  if (summary.metadata.name === "$errors") return "error";
  return summary.metadata.name === "$logs" ? "log" : "emit";
}

const frame = (summary: EventSummary) =>
  `id: ${summary.id}\nevent: ${kindOf(summary)}\ndata: ${JSON.stringify(summary)}\n\n`;

export interface WatchRequest {
  lastEventId: string | null;
  userId: string;
  /** Returns why the stream must end, or null; called at each heartbeat. */
  whyEnded: () => Promise<string | null>;
  heartbeatMs?: number;
}

/**
 * Streams an emitter's events, errors and logs as they happen, as server-sent events with a heartbeat every 15 s. A
 * stream whose caller lost access ends at the next heartbeat, with an event `end` that has the reason. One whose process
 * loses its connection to Redis ends at once, because it would miss events. With
 * `lastEventId` the stream starts with what is still stored after that event, so that a reader that reconnects misses
 * nothing of the last 100 of each. Throws `rate-limited` if the user has as many streams open as the plan allows.
 */
export async function watchEvents(
  platform: Pick<Platform, "eventLog" | "feed" | "keys"> & LimitDeps,
  emitterId: string,
  request: WatchRequest,
): Promise<Readable> {
  const release = openStream(request.userId, (await limitsOf(platform, request.userId)).streams);
  const out = new PassThrough();
  out.once("close", release);
  try {
    await watchInto(out, platform, emitterId, request);
    return out;
  } catch (error) {
    out.destroy();
    throw error;
  }
}

async function watchInto(
  out: PassThrough,
  platform: Pick<Platform, "eventLog" | "feed" | "keys">,
  emitterId: string,
  { lastEventId, whyEnded, heartbeatMs = HEARTBEAT_MS }: WatchRequest,
): Promise<void> {
  let waiting: EventSummary[] | null = [];
  const send = (summary: EventSummary) => {
    if (out.destroyed || out.writableEnded) return;
    if (out.writableLength > MAX_BACKLOG_BYTES) out.destroy();
    else out.write(frame(summary));
  };
  const feed = await platform.feed();
  // Before reading what is stored, so that nothing is lost between the two.
  const unsubscribe = await feed.subscribe(platform.keys.eventFeed(emitterId), {
    onMessage(message) {
      const summary = parseFeedMessage(message);
      if (waiting) waiting.push(summary);
      else send(summary);
    },
    // What is emitted until the connection is back would be missed; the reader resumes by its last event id.
    onLost: () => void out.end(),
  });
  const beat = async () => {
    // A store that is away for a moment ends no stream.
    const reason = await whyEnded().catch(() => null);
    if (out.destroyed || out.writableEnded) return;
    if (reason === null) out.write(": heartbeat\n\n");
    else out.end(`event: end\ndata: ${JSON.stringify({ reason })}\n\n`);
  };
  const heartbeat = setInterval(() => void beat(), heartbeatMs);
  out.once("close", () => {
    clearInterval(heartbeat);
    void unsubscribe().catch(() => undefined);
  });
  if (!out.writableEnded) out.write(": watching\n\n");
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
  const arrived = waiting;
  waiting = null;
  for (const summary of arrived) if (!sent.has(summary.id)) send(summary);
}
