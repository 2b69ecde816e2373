import { CronExpressionParser } from "cron-parser";

/** The next five times of a cron expression of five fields, as Unix milliseconds; null if it is not one. */
export function nextFires(cron: string, timezone: string): number[] | null {
  if (cron.trim().split(/\s+/).length !== 5) return null;
  try {
    return CronExpressionParser.parse(cron, { tz: timezone })
      .take(5)
      .map(date => date.getTime());
  } catch {
    return null;
  }
}
