import { CronExpressionParser } from "cron-parser";

const SHOWN = 5;

/**
 * The next five times of a cron expression of five fields, as Unix milliseconds; null if it is not one. Each is looked up
 * from the one before, as the server does: a reader of all at once differs where a clock change repeats an hour.
 */
export function nextFires(cron: string, timezone: string, afterMs = Date.now()): number[] | null {
  if (cron.trim().split(/\s+/).length !== 5) return null;
  try {
    const times: number[] = [];
    while (times.length < SHOWN) {
      const options = { tz: timezone, currentDate: new Date(times.at(-1) ?? afterMs) };
      times.push(CronExpressionParser.parse(cron, options).next().getTime());
    }
    return times;
  } catch {
    return null;
  }
}
