import { PassThrough, type Readable } from "node:stream";
import { limitsOf } from "../accounts/limits.ts";
import { AppError } from "../lib/errors.ts";
import { eventScore } from "../lib/ids.ts";
import { stringifyJson } from "../lib/json-text.ts";
import { OpenCounts } from "../lib/open-counts.ts";
import { LIMITS } from "../limits/catalogue.ts";
import type { Awaited, Stores } from "../platform.ts";
import { type EventSummary, parseFeedMessage, STREAMS } from "../store/events/event-summary.ts";

const HEARTBEAT_MS = 15_000;
/** A reader that falls this far behind is disconnected; it resumes by `Last-Event-ID`. */
const MAX_BACKLOG_BYTES = LIMITS.streamBacklogBytes.value;

/** In one web process, by user: each stream holds a socket and its backlog for as long as it likes. */
const openStreams = new OpenCounts();

/** Counts an open stream of a user; returns the function that ends it. Throws `rate-limited` for one too many. */
export function openStream(userId: string, most: number): () => void {
  const release = openStreams.open(userId, most);
  if (release) return release;
  const message = `this user already has ${most} open streams`;
  throw new AppError("rate-limited", message, { retryAfterMs: HEARTBEAT_MS });
}

/** The SSE event name, which `curl -N` shows before each line of data. */
function kindOf(summary: EventSummary): "emit" | "error" | "log" {
  if (summary.metadata.name === "$errors") return "error";
  return summary.metadata.name === "$logs" ? "log" : "emit";
}

const frame = (summary: EventSummary) =>
  `id: ${summary.id}\nevent: ${kindOf(summary)}\ndata: ${stringifyJson(summary)}\n\n`;

interface LiveStreamOptions {
  /** Returns why the stream must end, or null; called at each heartbeat. */
  whyEnded: () => Promise<string | null>;
  /** Called at each heartbeat, too. */
  onHeartbeat?: () => Promise<void>;
  heartbeatMs?: number;
}

/**
 * Server-sent events to one reader, with a heartbeat. A reader that falls behind is disconnected, and so is one that has
 * lost access, at the next heartbeat, after an event `end` that has the reason.
 */
export class LiveStream {
  readonly out = new PassThrough();
  readonly #heartbeat: NodeJS.Timeout;
  readonly #options: LiveStreamOptions;

  constructor(options: LiveStreamOptions) {
    this.#options = options;
    this.#heartbeat = setInterval(() => void this.#beat(), options.heartbeatMs ?? HEARTBEAT_MS);
    this.out.once("close", () => clearInterval(this.#heartbeat));
  }

  /** Sends an event, an error or a log line of an emitter, with its id, by which the reader resumes. */
  sendEvent(summary: EventSummary): void {
    this.#write(frame(summary));
  }

  send(kind: string, value: unknown): void {
    this.#write(`event: ${kind}\ndata: ${JSON.stringify(value)}\n\n`);
  }

  comment(text: string): void {
    this.#write(`: ${text}\n\n`);
  }

  /** Ends the stream: what happens from now on would be missed, and the reader resumes by its last event id. */
  end(): void {
    this.out.end();
  }

  /** Calls `close` when the stream is closed, or at once if it is. */
  onClose(close: () => Promise<unknown>): void {
    const run = () => void close().catch(() => undefined);
    if (this.out.destroyed) run();
    else this.out.once("close", run);
  }

  #write(text: string): void {
    if (this.out.destroyed || this.out.writableEnded) return;
    if (this.out.writableLength > MAX_BACKLOG_BYTES) this.out.destroy();
    else this.out.write(text);
  }

  async #beat(): Promise<void> {
    const { whyEnded, onHeartbeat } = this.#options;
    // A store that is away for a moment ends no stream.
    const [reason] = await Promise.all([
      whyEnded().catch(() => null),
      onHeartbeat?.().catch(() => undefined),
    ]);
    if (this.out.destroyed || this.out.writableEnded) return;
    if (reason === null) return this.comment("heartbeat");
    this.send("end", { reason });
    this.out.end();
  }
}

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
  platform: Stores & Awaited,
  emitterId: string,
  request: WatchRequest,
): Promise<Readable> {
  const release = openStream(request.userId, (await limitsOf(platform, request.userId)).streams);
  const live = new LiveStream(request);
  live.out.once("close", release);
  try {
    await streamEvents(platform, live, {
      emitterIds: [emitterId],
      sinceId: request.lastEventId,
      onSubscribed: () => live.comment("watching"),
    });
    return live.out;
  } catch (error) {
    live.out.destroy();
    throw error;
  }
}

interface StreamRequest {
  emitterIds: string[];
  /** What is still stored after this event id is sent first; null for what happens from now on. */
  sinceId: string | null;
  /** Called once nothing more can be missed, before the first event is sent. */
  onSubscribed: () => Promise<void> | void;
}

/** Sends the events of emitters to a stream: what is stored, in order, and then what happens, each once. */
export async function streamEvents(
  platform: Stores & Awaited,
  live: LiveStream,
  { emitterIds, sinceId, onSubscribed }: StreamRequest,
): Promise<void> {
  let waiting: EventSummary[] | null = [];
  const onMessage = (message: string) => {
    const summary = parseFeedMessage(message);
    if (waiting) waiting.push(summary);
    else live.sendEvent(summary);
  };
  const feed = await platform.feed();
  // Before reading what is stored, so that nothing is lost between the two.
  await Promise.all(
    emitterIds.map(async id => {
      // What is emitted until the connection is back would be missed; the reader resumes by its last event id.
      live.onClose(
        await feed.subscribe(platform.keys.eventFeed(id), { onMessage, onLost: () => live.end() }),
      );
    }),
  );
  await onSubscribed();
  const sent = new Set<string>();
  const sendOnce = (summary: EventSummary) => {
    const id = `${summary.metadata.emitter_id} ${summary.id}`;
    if (sent.has(id)) return;
    sent.add(id);
    live.sendEvent(summary);
  };
  if (sinceId !== null) {
    const missed = await Promise.all(
      emitterIds.flatMap(id => STREAMS.map(stream => platform.eventLog.since(id, stream, sinceId))),
    );
    const inOrder = missed.flat().sort((a, b) => (eventScore(a.id) ?? 0) - (eventScore(b.id) ?? 0));
    for (const summary of inOrder) sendOnce(summary);
  }
  const arrived = waiting;
  waiting = null;
  for (const summary of arrived) sendOnce(summary);
}
