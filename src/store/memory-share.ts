import { readMemoryShare } from "./probe-redis.ts";
import type { RedisClient } from "./redis.ts";

/** How long a reading is used. Milliseconds. */
const READ_EVERY_MS = 2000;
/** From here on Redis keeps what is left for work that was accepted. */
const FULL_SHARE = 0.95;

/** How full Redis is, as read a moment ago. */
export interface MemoryShare {
  /**
   * Returns the part of its own bound that an account may have waiting: 1 below the high-water mark, falling to 0 where
   * Redis takes no new work.
   */
  allowed(): number;
}

/**
 * Reads Redis' memory while it is asked for, every two seconds at most often. `highWater` is a share of `maxmemory`, or of
 * the machine's memory (docs/limits.md); 1 for no mark.
 */
export function openMemoryShare(redis: RedisClient, highWater: number): MemoryShare {
  let share = 0;
  let readAt = Number.NEGATIVE_INFINITY;
  const read = async () => {
    readAt = performance.now();
    share = await readMemoryShare(redis);
  };
  return {
    allowed() {
      if (highWater >= 1) return 1;
      // Not awaited: a request must not wait for a reading.
      if (performance.now() - readAt > READ_EVERY_MS) void read().catch(() => undefined);
      if (share < highWater) return 1;
      const most = Math.max(FULL_SHARE, highWater);
      return most === highWater ? 0 : Math.max(0, (most - share) / (most - highWater));
    },
  };
}
