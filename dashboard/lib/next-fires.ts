import { CronExpressionParser } from "cron-parser";
import { cronFault, readCron, stepFault } from "../../src/props/cron.ts";

const SHOWN = 5;

/**
 * The next five times of a cron expression, as Unix milliseconds; null if the server would reject it. Each is looked up
 * from the one before, as the server does: a reader of all at once differs where a clock change repeats an hour.
 */
export function nextFires(text: string, timezone: string, afterMs = Date.now()): number[] | null {
  const cron = readCron(text);
  if (cronFault(cron, timezone) !== null || stepFault(cron) !== null) return null;
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
