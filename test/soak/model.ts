import type { SeededRandom } from "./seeded-random.ts";

/** An event that was sent: to a source or a workflow as a request, or to a workflow's queue. */
export interface SentEvent {
  key: string;
  /** Name of its emitter. */
  emitter: string;
  /** The how many-th of its emitter it is, from 1. */
  n: number;
  /** When it was about to be sent, and when it was accepted; Unix milliseconds. */
  atMs: number;
  acceptedAtMs?: number;
  /** The run that the response named. */
  runId?: string;
  /** The least version of the code that may handle it. */
  version?: number;
}

/** An emitter that emits events of its own for each event of another one. */
export interface Derivation {
  from: string;
  to: string;
  suffix: string;
  matches?: (event: SentEvent) => boolean;
}

export interface ExpectedSubscription {
  emitter: string;
  /** Events that are sent later must arrive; Unix milliseconds. */
  sinceMs: number;
  matches?: (event: SentEvent) => boolean;
}

export interface ExpectedWebhook {
  path: string;
  id: string;
  signingKey: string;
  isOrdered?: boolean;
  /** Its endpoint fails each request, so its deliveries end as failed. */
  isFailing?: boolean;
  subscriptions: ExpectedSubscription[];
  /** When its deletion was requested: nothing must arrive from then on, and a while later nothing may. */
  deletedAtMs?: number;
}

export interface ExpectedTimer {
  path: string;
  intervalMs: number;
  /** When it was deployed, and when its deletion was requested; Unix milliseconds. */
  sinceMs: number;
  untilMs?: number;
}

/** A source with a webhook that receives all its events, by which the list of its events is judged. */
export interface ExpectedList {
  emitter: string;
  sourceId: string;
  path: string;
  /** Events up to this one were deleted. */
  deletedUpTo?: string;
}

/** What an SSE reader got. */
export interface StreamRead {
  emitter: string;
  path: string;
  sinceMs: number;
  eventIds: Map<string, number>;
  reconnects: number;
}

/** Something that was deleted: nothing of it may remain. */
export interface Deleted {
  id: string;
  kind: "source" | "webhook";
}

/** A time in which a fault was in effect; Unix milliseconds. */
export interface FaultTime {
  title: string;
  /** Whether an emissions worker, or a store that it works with, hangs or is away. */
  holdsEmissions: boolean;
  fromMs: number;
  toMs: number;
}

/** What the load did, and what must come of it. */
export class Model {
  readonly sent = new Map<string, SentEvent>();
  readonly derivations: Derivation[] = [];
  readonly webhooks: ExpectedWebhook[] = [];
  readonly timers: ExpectedTimer[] = [];
  readonly lists: ExpectedList[] = [];
  readonly streams: StreamRead[] = [];
  readonly deleted: Deleted[] = [];
  readonly faults: FaultTime[] = [];
  /** Emitters whose events are sent one after another, so that their event ids must increase. */
  readonly inSeries = new Set<string>();
  /** Events that were published by one request which was accepted at once: their event ids must increase. */
  readonly batches: SentEvent[][] = [];
  /** Requests to the source that drops what it knows: accepted ones, and ones without a result. */
  readonly deduping = { accepted: 0, unclear: 0 };
  /** Anything else that was not as it must be, seen while it happened. */
  readonly observed: { what: string; example: string }[] = [];
  readonly #counts = new Map<string, number>();

  /** Notes an event that is about to be sent; from now on it may arrive. */
  sending(emitter: string, more: Partial<SentEvent> = {}): SentEvent {
    const n = (this.#counts.get(emitter) ?? 0) + 1;
    this.#counts.set(emitter, n);
    const event: SentEvent = { key: `${emitter}:${n}`, emitter, n, atMs: Date.now(), ...more };
    this.sent.set(event.key, event);
    return event;
  }

  /** It was accepted; from now on it must arrive. */
  accepted(event: SentEvent, runId?: string): void {
    event.acceptedAtMs ??= Date.now();
    if (runId !== undefined) event.runId = runId;
  }

  webhookAt(path: string): ExpectedWebhook | undefined {
    return this.webhooks.find(webhook => webhook.path === path);
  }

  /** Of all emitters, or of one. */
  acceptedCount(of?: string): number {
    let count = 0;
    for (const { acceptedAtMs, emitter } of this.sent.values()) {
      if (acceptedAtMs !== undefined && (of === undefined || emitter === of)) count += 1;
    }
    return count;
  }

  /** Keys of the derived events follow from those of the events that were sent. */
  eventsOf(emitter: string): SentEvent[] {
    const own = [...this.sent.values()].filter(event => event.emitter === emitter);
    const derived = this.derivations
      .filter(({ to }) => to === emitter)
      .flatMap(({ from, suffix, matches }) =>
        this.eventsOf(from)
          .filter(event => matches?.(event) ?? true)
          .map(event => ({ ...event, emitter, key: event.key + suffix })),
      );
    return [...own, ...derived];
  }
}

/** What each part of the load works with. */
export interface Actor {
  model: Model;
  random: SeededRandom;
  signal: AbortSignal;
}
