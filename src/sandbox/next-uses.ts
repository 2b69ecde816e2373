import { LRUCache } from "lru-cache";

interface Uses {
  lastAt: number;
  /** Between two uses; undefined until there were two. */
  everyMs: number | undefined;
}

/** The share of the newest interval in the mean. */
const NEWEST = 0.5;
const KEYS = 20_000;
const UNKNOWN_MS = 86_400_000;

/** When keys will be used again, as far as their earlier uses say. Times are those of `performance.now()`. */
export class NextUses {
  readonly #uses = new LRUCache<string, Uses>({ max: KEYS });

  /** Notes a use. */
  used(key: string, nowMs: number): void {
    const earlier = this.#uses.get(key);
    if (!earlier) {
      this.#uses.set(key, { lastAt: nowMs, everyMs: undefined });
      return;
    }
    const sinceMs = nowMs - earlier.lastAt;
    earlier.everyMs =
      earlier.everyMs === undefined ? sinceMs : NEWEST * sinceMs + (1 - NEWEST) * earlier.everyMs;
    earlier.lastAt = nowMs;
  }

  /**
   * Returns when the key will be used next. One that is overdue is expected to rest for as long again as it has already; one
   * that was used once only comes after all others.
   */
  expectedAt(key: string, nowMs: number): number {
    const uses = this.#uses.peek(key);
    if (!uses) return Number.POSITIVE_INFINITY;
    const { lastAt, everyMs } = uses;
    const restedMs = nowMs - lastAt;
    if (everyMs === undefined) return nowMs + UNKNOWN_MS + restedMs;
    return everyMs >= restedMs ? lastAt + everyMs : nowMs + restedMs;
  }
}
