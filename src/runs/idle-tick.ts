import { CronExpressionParser } from "cron-parser";
import { LIMITS } from "../limits/catalogue.ts";
import type { StoredTimer } from "../models/source.ts";

const KEPT_MS = LIMITS.idleTickKept.value;
const MOST_MS = LIMITS.runKept.value;

/**
 * Returns for how many milliseconds the record of a tick that emitted nothing is kept: a timer's runs would otherwise be
 * most of all records. The record of a cron's moment lasts until the next one is over, since the reconciler looks for it
 * to learn whether that moment was missed (docs/design.md#guarantee-7). `nowMs` is Unix milliseconds.
 */
export function idleTickKeptMs(timer: StoredTimer | null, nowMs: number): number {
  if (!timer?.cron) return KEPT_MS;
  const options = { tz: timer.timezone ?? "UTC", currentDate: new Date(nowMs) };
  const next = CronExpressionParser.parse(timer.cron, options).next().getTime();
  return Math.min(MOST_MS, next - nowMs + KEPT_MS);
}
