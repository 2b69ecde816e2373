import { CronExpressionParser } from "cron-parser";
import { AppError } from "../../lib/errors.ts";
import { type Timer, timerEvent } from "../../props/timer.ts";
import { readJsonFile } from "../input.ts";
import type { DevSource } from "./session.ts";

/** Node's timers take at most 31 bits of milliseconds; a longer wait is divided into several. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

interface Ticker {
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
function createTicker(onDue: (timer: Timer, dueAtMs: number) => void): Ticker {
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

/** Runs the source by its timer. As in a deployment, a tick is dropped while the run of an earlier one still waits. */
export function startTicker({ code, session, printer }: DevSource): Ticker {
  let isWaiting = false;
  const ticker = createTicker((timer, dueAtMs) => {
    if (isWaiting) return printer.say("dropped", "1 tick: the run of an earlier one still waits");
    isWaiting = true;
    const onStart = () => {
      isWaiting = false;
      printer.say("run", "timer");
    };
    void session.run(timerEvent(timer, dueAtMs), { onStart });
  });
  ticker.follow(code.timer);
  return ticker;
}

async function eventByHand({ options, code }: DevSource): Promise<unknown> {
  if (options.event !== undefined) return readJsonFile(options.event);
  if (code.timer) return timerEvent(code.timer, Date.now());
  throw new AppError("invalid", "the component has no timer: set the event with --event FILE");
}

/**
 * Runs the source once on the event of `--event`, or of its timer. Throws AppError if there is no event, and with
 * `--once` if the run failed.
 */
export async function runByHand(source: DevSource): Promise<void> {
  const event = await eventByHand(source);
  const onStart = () => source.printer.say("run", source.options.event ?? "timer, by hand");
  const error = await source.session.run(event, { onStart });
  if (error && source.options.once) {
    throw new AppError("invalid", `the run failed: ${error.code}: ${error.message}`);
  }
}
