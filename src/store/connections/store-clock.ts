import type { RedisClient } from "./redis.ts";

/** This machine's own clock, whatever `adoptClock` replaces later. */
const machineClock = Date.now;

/** How often the clock is compared with Redis'. */
const SYNC_EVERY_MS = 5000;
/** A smaller difference is left alone: it can't be measured while Redis or this process is busy. */
const TOLERANCE_MS = 100;
/** The machine's clock was set, rather than slewed, if it moved by more than this against the monotonic clock. */
const JUMP_MS = 250;

/**
 * The time of the whole installation: that of Redis, as this process knows it. Processes on several machines compare
 * times that others wrote, so none of them may use its own machine's clock (docs/decisions/0017-one-clock.md).
 */
export class StoreClock {
  readonly #redis: Pick<RedisClient, "time">;
  readonly #machine: () => number;
  readonly #timer: NodeJS.Timeout;
  /** What must be added to the machine's clock, in milliseconds. */
  #offsetMs = 0;
  /** The machine's clock when the monotonic clock was 0. */
  #zeroMs: number;

  private constructor(redis: Pick<RedisClient, "time">, machine: () => number) {
    this.#redis = redis;
    this.#machine = machine;
    this.#zeroMs = machine() - performance.now();
    this.#timer = setInterval(() => void this.sync(), SYNC_EVERY_MS).unref();
  }

  /** Opens the clock and compares it with Redis' once. `machine` is for tests. */
  static async open(redis: Pick<RedisClient, "time">, machine = machineClock): Promise<StoreClock> {
    const clock = new StoreClock(redis, machine);
    await clock.sync();
    return clock;
  }

  /** Returns the time of the installation in Unix milliseconds. */
  readonly now = (): number => {
    const machineMs = this.#machine();
    const jumpMs = machineMs - performance.now() - this.#zeroMs;
    if (Math.abs(jumpMs) > JUMP_MS) {
      this.#zeroMs += jumpMs;
      this.#offsetMs -= Math.round(jumpMs);
      // The monotonic clock stands still while the machine sleeps.
      void this.sync();
    }
    return machineMs + this.#offsetMs;
  };

  /** By how many milliseconds the machine's clock is ahead of the installation's. */
  get machineAheadMs(): number {
    return this.#machine() - this.now();
  }

  /** Compares the clock with Redis' now. While Redis is away, the clock goes on as it is. */
  async sync(): Promise<void> {
    const beforeMs = this.now();
    const time = await this.#redis.time().catch(() => undefined);
    if (!time) return;
    const afterMs = this.now();
    const [seconds, microseconds] = time;
    const redisMs = Number(seconds) * 1000 + Math.floor(Number(microseconds) / 1000);
    const errorMs = redisMs - Math.round((beforeMs + afterMs) / 2);
    if (Math.abs(errorMs) > Math.max(TOLERANCE_MS, (afterMs - beforeMs) / 2)) this.#offsetMs += errorMs;
    this.#zeroMs = this.#machine() - performance.now();
  }

  close(): void {
    clearInterval(this.#timer);
  }
}

/**
 * Makes this clock the one of the whole process. BullMQ, which dates jobs and decides when a delayed one is due, reads
 * `Date.now` and can't be given another clock. Only the entry of a process may call this.
 */
export function adoptClock(clock: () => number): void {
  Date.now = clock;
}
