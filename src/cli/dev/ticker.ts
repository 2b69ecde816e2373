import { CronExpressionParser } from "cron-parser";
import type { Timer } from "../../props/timer.ts";

/** Node's timers take at most 31 bits of milliseconds; a longer wait is divided into several. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

export interface Ticker {
  /** Ticks by this timer from now on. Does nothing if it already does, as a deployment. */
  follow(timer: Timer | null): void;
  stop(): void;
}

function nextDueMs(timer: Timer, afterMs: number): number {
  if ("intervalSeconds" in timer) return afterMs + timer.intervalSeconds * 1000;
  const options = { currentDate: new Date(afterMs), tz: timer.timezone };
  return CronExpressionParser.parse(timer.cron, options).next().getTime();
}

/**
 * Ticks in this process as job schedulers do: an interval at once and after each interval, a cron at its times.
 * @param onDue receives the time at which the timer was due, Unix milliseconds
 */
export function createTicker(onDue: (timer: Timer, dueAtMs: number) => void): Ticker {
  let current: Timer | null = null;
  let timeout: NodeJS.Timeout | undefined;

  function schedule(timer: Timer, dueAtMs: number): void {
    const leftMs = dueAtMs - Date.now();
    timeout = setTimeout(
      () => {
        if (leftMs > MAX_TIMEOUT_MS) return schedule(timer, dueAtMs);
        onDue(timer, dueAtMs);
        // After the machine has slept, one tick makes up for all that were missed.
        schedule(timer, nextDueMs(timer, Math.max(dueAtMs, lastDueMs(timer, dueAtMs))));
      },
      Math.min(Math.max(leftMs, 0), MAX_TIMEOUT_MS),
    );
  }

  return {
    follow(timer) {
      if (JSON.stringify(timer) === JSON.stringify(current)) return;
      clearTimeout(timeout);
      current = timer;
      if (!timer) return;
      const now = Date.now();
      schedule(timer, "intervalSeconds" in timer ? now : nextDueMs(timer, now));
    },
    stop: () => clearTimeout(timeout),
  };
}

/** Returns the last due time before now, counted in intervals from `dueAtMs`; for a cron, now itself serves. */
function lastDueMs(timer: Timer, dueAtMs: number): number {
  if ("cron" in timer) return Date.now();
  const everyMs = timer.intervalSeconds * 1000;
  return dueAtMs + Math.floor((Date.now() - dueAtMs) / everyMs) * everyMs;
}

/** Returns `every 15 s`, or `at` the cron expression with its zone. */
export function timerText(timer: Timer): string {
  return "cron" in timer ? `at ${timer.cron} (${timer.timezone})` : `every ${timer.intervalSeconds} s`;
}
