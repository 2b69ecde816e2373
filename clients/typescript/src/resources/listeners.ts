import type { Connection } from "../connection.ts";
import { isFinal } from "../live.ts";
import type { QueryOf } from "../operations.ts";
import type { CallOptions } from "../options.ts";
import { wait, waitMs } from "../retry.ts";
import type { PulledEvents } from "../schema.ts";

/** Of a pull. */
export interface PullOptions {
  /** Begins behind this cursor, which acknowledges everything up to it; by default behind what is acknowledged. */
  after?: string;
  /** Events in one response, 1 to 100; 100 by default. */
  limit?: number;
  /** Seconds that one request waits for an event, 0 to 30; 30 by default. With 0, the loop ends when nothing more is kept. */
  wait?: number;
  /** Called when events that were kept are gone: too old, deleted, or not accessible any more. */
  onTruncated?: () => void;
  signal?: AbortSignal;
}

/** One event that was pulled. */
export type PulledEvent = PulledEvents["events"][number];

/** A request waits for so long at most, besides the time of any other. */
const USUAL_MS = 60_000;

/** Destinations of kind `pull`, which keep events for a program that asks for them. */
export class Listeners {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /**
   * Yields the events that are kept for this program, and waits for more. Those of a response are acknowledged by asking for the one
   * behind them: a program that ends, or leaves the loop, in between gets them again. A lost connection does not end it: once it has
   * worked, it is tried again until it does. Ends when `signal` aborts.
   */
  async *pull(id: string, options: PullOptions = {}): AsyncGenerator<PulledEvent, void, undefined> {
    const { signal, onTruncated, limit, wait: seconds = 30 } = options;
    let after = options.after;
    let hasWorked = false;
    for (let failures = 0; !signal?.aborted; ) {
      let pulled: PulledEvents;
      try {
        const query = { wait: seconds, ...(after !== undefined && { after }), ...(limit && { limit }) };
        pulled = await this.events(id, query, signal ? { signal } : {});
      } catch (error) {
        if (signal?.aborted) return;
        if (!hasWorked || isFinal(error)) throw error;
        await wait(waitMs(failures, null), signal).catch(() => undefined);
        failures += 1;
        continue;
      }
      [hasWorked, failures] = [true, 0];
      if (pulled.truncated) onTruncated?.();
      for (const event of pulled.events) {
        if (signal?.aborted) return;
        yield event;
      }
      if (seconds === 0 && after === pulled.cursor && !pulled.has_more) return;
      after = pulled.cursor;
    }
  }

  /** One response, for programs that keep the cursor themselves: its `cursor`, as the next `after`, acknowledges its events. */
  events(
    id: string,
    query: QueryOf<"/listeners/{id}/events", "get"> = {},
    options?: CallOptions,
  ): Promise<PulledEvents> {
    const usualMs = USUAL_MS + (query?.wait ?? 0) * 1000;
    return this.#connection.send(
      "get",
      "/listeners/{id}/events",
      { params: { id }, query },
      { usualMs, ...options },
    );
  }
}
