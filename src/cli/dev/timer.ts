import { CronExpressionParser } from "cron-parser";
import type { Timer } from "../../props/timer.ts";

/** Node's timers count milliseconds in 31 bits; what is later is waited for in several steps. */
const LONGEST_MS = 2 ** 31 - 1;

export interface Ticker {
  /** Ticks by this timer from now on; one that ticks so already is left alone, as a deployment does. */
  follow(timer: Timer | null): void;
  stop(): void;
}

function nextMoment(timer: Timer, fromMs: number): number {
  if ("intervalSeconds" in timer) return fromMs + timer.intervalSeconds * 1000;
  const options = { currentDate: new Date(fromMs), tz: timer.timezone };
  return CronExpressionParser.parse(timer.cron, options).next().getTime();
}

/**
 * Ticks in this process as job schedulers do: an interval at once and then each interval, a cron at its times.
 * @param onDue gets the moment that was due, Unix milliseconds.
 */
export function createTicker(onDue: (timer: Timer, dueAtMs: number) => void): Ticker {
  let followed: Timer | null = null;
  let waiting: NodeJS.Timeout | undefined;

  function arm(timer: Timer, dueAtMs: number): void {
    const leftMs = dueAtMs - Date.now();
    waiting = setTimeout(
      () => {
        if (leftMs > LONGEST_MS) return arm(timer, dueAtMs);
        onDue(timer, dueAtMs);
        // After a machine's sleep one tick stands for all that were missed.
        arm(timer, nextMoment(timer, Math.max(dueAtMs, lastBefore(timer, dueAtMs))));
      },
      Math.min(Math.max(leftMs, 0), LONGEST_MS),
    );
  }

  return {
    follow(timer) {
      if (JSON.stringify(timer) === JSON.stringify(followed)) return;
      clearTimeout(waiting);
      followed = timer;
      if (!timer) return;
      const now = Date.now();
      arm(timer, "intervalSeconds" in timer ? now : nextMoment(timer, now));
    },
    stop: () => clearTimeout(waiting),
  };
}

/** The newest moment before now of those that count from `dueAtMs`; cron moments count from the clock itself. */
function lastBefore(timer: Timer, dueAtMs: number): number {
  if ("cron" in timer) return Date.now();
  const everyMs = timer.intervalSeconds * 1000;
  return dueAtMs + Math.floor((Date.now() - dueAtMs) / everyMs) * everyMs;
}

/** `every 15 s`, or the cron expression with its zone. */
export function timerText(timer: Timer): string {
  return "cron" in timer ? `at ${timer.cron} (${timer.timezone})` : `every ${timer.intervalSeconds} s`;
}
