import { LRUCache } from "lru-cache";
import { createBatcher } from "../lib/batcher.ts";
import { openPer } from "../lib/lazy.ts";
import { LIMITS } from "../limits/catalogue.ts";
import { Issues, UNRESOLVED } from "../models/issue.ts";
import type { Stores } from "../platform.ts";
import { causeOf, issueIdOf, OTHER_CAUSE, type Outcome } from "./cause.ts";

/** A failed attempt, as its issue counts it. */
export interface FailedAttempt {
  /** The account of the listener. */
  ownerId: string;
  listenerId: string;
  deliveryId: string;
  cause: string;
  /** Unix milliseconds. */
  atMs: number;
  status: number | null;
  error: string;
  /** True if the delivery has failed with it. */
  isLast: boolean;
}

/** What was counted of an issue and is not written yet. */
interface Counted {
  count: number;
  failed: number;
  firstMs: number;
  /** The one that was noted last. */
  last: FailedAttempt;
}

const FLUSH_MS = 1000;
/** Issues of one round trip. */
const WRITTEN_AT_ONCE = 1000;
/** Issues that wait to be written, while MongoDB is away; beyond it nothing is counted of further ones. */
const MOST_WAITING = 20_000;
/** As much of an error as says what is wrong: attempts keep more. */
const ERROR_CHARS = 1024;

/** Listeners whose causes a process knows, and for how long. */
const KNOWN = { max: 10_000, ttl: 600_000 };
const LISTENERS_PER_QUERY = 100;

/**
 * The issues of the attempts that fail in this process. They are counted in memory and written once a second, together: an attempt that succeeds costs nothing, and a process that is killed loses the counts of a second.
 */
export class IssueCounts {
  readonly #platform: Pick<Stores, "mongo" | "log">;
  /** By the id of the issue. */
  readonly #waiting = new Map<string, Counted>();
  readonly #causes = new LRUCache<string, Set<string>>(KNOWN);
  readonly #readCauses: (listenerId: string) => Promise<string[]>;
  #timer: NodeJS.Timeout | undefined;
  #flushing: Promise<void> = Promise.resolve();

  constructor(platform: Pick<Stores, "mongo" | "log">) {
    this.#platform = platform;
    this.#readCauses = createBatcher((ids: string[]) => readCauses(platform, ids), {
      maxWeight: LISTENERS_PER_QUERY,
    });
  }

  /**
   * Returns why an attempt failed, or `OTHER_CAUSE` if its listener has had as many causes as are told apart; null if it
   * succeeded. Asks MongoDB only for a cause that this process has not seen. Throws `unavailable`.
   */
  async causeOf(listenerId: string, outcome: Outcome): Promise<string | null> {
    const cause = causeOf(listenerId, outcome);
    if (cause === null || this.#causes.get(listenerId)?.has(cause)) return cause;
    const known = this.#causes.get(listenerId) ?? new Set();
    const most = LIMITS.issuesPerListener.value;
    if (known.size < most) for (const one of await this.#readCauses(listenerId)) known.add(one);
    if (known.size < most || known.has(cause)) known.add(cause);
    this.#causes.set(listenerId, known);
    return known.has(cause) ? cause : OTHER_CAUSE;
  }

  /** Counts a failed attempt for its issue; it is written within a second. */
  note(attempt: FailedAttempt): void {
    const id = issueIdOf(attempt.listenerId, attempt.cause);
    const { count = 0, failed = 0, firstMs = attempt.atMs } = this.#waiting.get(id) ?? {};
    if (count === 0 && this.#waiting.size >= MOST_WAITING) return;
    this.#waiting.set(id, {
      count: count + 1,
      failed: failed + Number(attempt.isLast),
      firstMs: Math.min(firstMs, attempt.atMs),
      last: attempt,
    });
    this.#flushLater();
  }

  /** Writes what was counted so far. Throws `unavailable`, and keeps what is not written. */
  flush(): Promise<void> {
    this.#flushing = this.#flushing.catch(() => undefined).then(() => this.#write());
    return this.#flushing;
  }

  /** Writes what is left, as far as MongoDB is there. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.flush().catch(() => undefined);
  }

  #flushLater(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.flush()
        .catch((error: unknown) => this.#platform.log.debug({ err: error }, "issues can't be written yet"))
        .finally(() => {
          if (this.#waiting.size > 0) this.#flushLater();
        });
    }, FLUSH_MS).unref();
  }

  async #write(): Promise<void> {
    const left = [...this.#waiting];
    this.#waiting.clear();
    while (left.length > 0) {
      const batch = left.slice(0, WRITTEN_AT_ONCE);
      try {
        await Issues(this.#platform.mongo).bulkWrite(batch.map(toUpsert), { ordered: false });
      } catch (error) {
        for (const [id, counted] of left) this.#keepUnwritten(id, counted);
        throw error;
      }
      left.splice(0, WRITTEN_AT_ONCE);
    }
  }

  #keepUnwritten(id: string, { count, failed, firstMs, last }: Counted): void {
    const since = this.#waiting.get(id);
    this.#waiting.set(id, {
      count: count + (since?.count ?? 0),
      failed: failed + (since?.failed ?? 0),
      firstMs,
      last: since?.last ?? last,
    });
  }
}

/** The issues that the attempts of one process are counted for. */
export const issueCountsOf = openPer(
  (platform: Pick<Stores, "mongo" | "log">) => new IssueCounts(platform),
  ({ mongo }) => mongo,
);

/** Returns the causes that each of these listeners has issues of. */
async function readCauses({ mongo }: Pick<Stores, "mongo">, listenerIds: string[]): Promise<string[][]> {
  const found = await Issues(mongo)
    .find({ listener_id: { $in: listenerIds } }, { listener_id: 1, cause: 1 })
    .lean();
  return listenerIds.map(id =>
    found.filter(({ listener_id }) => listener_id === id).map(({ cause }) => cause),
  );
}

const toUpsert = ([id, counted]: [id: string, Counted]) => ({
  updateOne: {
    filter: { _id: id },
    update: updateOf(counted),
    upsert: true,
    // They would be no part of a pipeline.
    setDefaultsOnInsert: false,
  },
});

/** Texts are anybody's, and one that begins with a dollar sign would be the name of a field. */
const text = (value: string) => ({ $literal: value });

/**
 * Returns the update, a pipeline, that adds what was counted to an issue, or makes it. One that was resolved before the last of
 * these attempts is open again, in another episode.
 */
function updateOf({ count, failed, firstMs, last }: Counted) {
  const before = (field: string, otherwise: unknown) => ({ $ifNull: [`$${field}`, otherwise] });
  const goesOn = {
    $or: [
      { $in: [before("state", ""), [...UNRESOLVED]] },
      { $gte: [before("resolved_at_ms", -1), last.atMs] },
    ],
  };
  const kept = (field: string, otherwise: unknown) => ({ $cond: [goesOn, `$${field}`, otherwise] });
  return [
    {
      $set: {
        owner_id: text(last.ownerId),
        listener_id: text(last.listenerId),
        cause: text(last.cause),
        state: kept("state", "open"),
        opened_at_ms: kept("opened_at_ms", firstMs),
        // None of a new one has opened it again.
        reopened: kept("reopened", { $add: [before("reopened", -1), 1] }),
        first_seen_ms: before("first_seen_ms", firstMs),
        last_seen_ms: { $max: ["$last_seen_ms", last.atMs] },
        count: { $add: [before("count", 0), count] },
        failed_deliveries: { $add: [before("failed_deliveries", 0), failed] },
        failed_since_opened: { $add: [kept("failed_since_opened", 0), failed] },
        last_error: text(last.error.slice(0, ERROR_CHARS)),
        last_status: last.status,
        last_delivery_id: text(last.deliveryId),
        acknowledged_at_ms: kept("acknowledged_at_ms", null),
        acknowledged_by: kept("acknowledged_by", null),
        resolved_at_ms: kept("resolved_at_ms", null),
        resolved_by: kept("resolved_by", null),
        expires_at: new Date(last.atMs + LIMITS.issueKept.value),
      },
    },
  ];
}
