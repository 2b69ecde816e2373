import type { Connection } from "./connection.ts";
import { type Deadline, startDeadline } from "./deadline.ts";
import { ApiError, ConnectionError, HeadwaterError, StreamEndedError } from "./errors.ts";
import { isPassing, LONGEST_RETRY_AFTER_MS, wait, waitMs } from "./retry.ts";
import type { Delivery, EventSummary, Run } from "./schema.ts";
import { readServerSentEvents, type ServerSentEvent } from "./server-sent-events.ts";

/** What to watch. */
export interface WatchOptions {
  /** Ids of up to 20 sources and workflows whose events, errors and log lines to see. */
  emitters?: readonly string[];
  /** Deliveries to the account's webhooks, when they are recorded or change. */
  deliveries?: boolean;
  /** Runs of the account's sources. */
  runs?: boolean;
  /** Begins with what is still stored behind this event id. */
  lastEventId?: string;
  /** Called when the connection is lost or can't be made, before the next one is tried; `ready` says that it is there again. */
  onLost?: () => void;
  signal?: AbortSignal;
}

/** One thing that happened. */
export type LiveMessage =
  /** The stream began, or began again: deliveries and runs may have been missed, so read what you list. */
  | { type: "ready"; resumed: boolean }
  | { type: "emit" | "error" | "log"; summary: EventSummary }
  | { type: "delivery"; delivery: Delivery }
  | { type: "run"; run: Run }
  /** So many were too many to send. */
  | { type: "skipped"; deliveries: number; runs: number };

/** The server sends something every 15 s: a connection on which nothing arrives for so long is dead. */
const SILENCE_MS = 50_000;
/** Events that come twice come soon after each other. */
const EVENTS_REMEMBERED = 10_000;

/** So often the first connection is tried; one that ends later is opened again without end. */
const FIRST_TRIES = 3;

/** Yields what happens; connects again, behind the last event, for as long as `signal` has not aborted. */
export async function* watch(
  connection: Connection,
  options: WatchOptions,
): AsyncGenerator<LiveMessage, void, undefined> {
  const { signal } = options;
  const reader = new LiveReader(options.lastEventId ?? null);
  for (let failures = 0; !signal?.aborted; ) {
    const deadline = startDeadline(SILENCE_MS, signal);
    let retryAfterMs: number | null = null;
    try {
      for await (const event of open(connection, options, reader, deadline)) {
        failures = 0;
        const message = reader.read(event);
        if (message) yield message;
      }
    } catch (error) {
      if (signal?.aborted) return;
      if (error instanceof ApiError && error.retryAfterMs !== null) {
        retryAfterMs = Math.min(error.retryAfterMs, LONGEST_RETRY_AFTER_MS);
      }
      if (isFinal(error) || (!reader.hasBegun && failures + 1 >= FIRST_TRIES)) throw error;
    } finally {
      deadline.clear();
    }
    if (!signal?.aborted) options.onLost?.();
    await wait(waitMs(failures, retryAfterMs), signal).catch(() => undefined);
    failures += 1;
  }
}

/** Whether the same request would fail again. */
export function isFinal(error: unknown): boolean {
  if (error instanceof ApiError) return !isPassing(error.status, error.retryAfterMs);
  return error instanceof HeadwaterError && !(error instanceof ConnectionError);
}

/** One connection. Its end, however it comes, is not the end of the stream. */
async function* open(
  connection: Connection,
  { emitters = [], deliveries, runs }: WatchOptions,
  reader: LiveReader,
  deadline: Deadline,
): AsyncGenerator<ServerSentEvent, void, undefined> {
  const query = {
    emitters: emitters.length > 0 ? emitters.join(",") : undefined,
    deliveries: deliveries || undefined,
    runs: runs || undefined,
  };
  const headers = {
    accept: "text/event-stream",
    ...(reader.position !== null && { "last-event-id": reader.position }),
  };
  const response = await connection.open("/live", query, { headers, signal: deadline.signal });
  reader.noteStart(response.headers.get("date"));
  if (response.body) yield* readServerSentEvents(response.body, () => deadline.extend());
}

/** Understands the events of the stream, and remembers where it is. */
class LiveReader {
  /** The event id behind which the next connection begins. */
  position: string | null;
  hasBegun = false;
  readonly #seen = new Set<string>();

  constructor(position: string | null) {
    this.position = position;
  }

  /** Before the first event, the stream goes on behind the moment at which it began, by the server's clock. */
  noteStart(date: string | null): void {
    this.hasBegun = true;
    const ms = date === null ? Number.NaN : Date.parse(date);
    if (this.position === null && !Number.isNaN(ms)) this.position = `${ms}-0`;
  }

  /** Returns null for an event that was there already, and for a kind that this version does not know. */
  read({ id, name, data }: ServerSentEvent): LiveMessage | null {
    if (id !== null) this.position = id;
    const value = JSON.parse(data);
    switch (name) {
      case "ready":
        return { type: "ready", resumed: value.resumed };
      case "emit":
      case "error":
      case "log":
        return this.#isNew(name, value) ? { type: name, summary: value } : null;
      case "delivery":
        return { type: "delivery", delivery: value };
      case "run":
        return { type: "run", run: value };
      case "skipped":
        return { type: "skipped", deliveries: value.deliveries, runs: value.runs };
      case "end":
        throw new StreamEndedError(String(value.reason));
      default:
        return null;
    }
  }

  #isNew(name: string, { id, metadata }: EventSummary): boolean {
    const key = `${metadata.emitter_id} ${name} ${id}`;
    if (this.#seen.has(key)) return false;
    this.#seen.add(key);
    if (this.#seen.size <= EVENTS_REMEMBERED) return true;
    const [oldest = ""] = this.#seen;
    this.#seen.delete(oldest);
    return true;
  }
}
