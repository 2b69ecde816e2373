import { CronExpressionParser } from "cron-parser";

/** When a timer source runs. The zone is an IANA name. */
export type Timer = { intervalSeconds: number } | { cron: string; timezone: string };

/** Where the code names no interval (runtime.md, "Props"). */
export const DEFAULT_INTERVAL_SECONDS = 900;
/** One second is what the schedulers can still keep; a source that is slower than its clock drops ticks, counted. */
const MIN_INTERVAL_SECONDS = 1;
/** A year: more is no timer, and it stays inside what a scheduler takes in milliseconds. */
const MAX_INTERVAL_SECONDS = 31_536_000;

/** What is wrong with a timer: the key it concerns (empty for the whole) and the message. */
export interface TimerFault {
  key: "" | "cron" | "intervalSeconds" | "timezone";
  message: string;
}

// Names of months and days, and L for the last; H would be another moment at each reading.
const CRON_WORDS = /\b(JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC|SUN|MON|TUE|WED|THU|FRI|SAT)\b|L/gi;
const KEYS = ["intervalSeconds", "interval_seconds", "cron", "timezone"];

function isTimezone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

function readCron(given: unknown, zone: unknown): Timer | TimerFault {
  const timezone = zone ?? "UTC";
  if (typeof timezone !== "string" || !isTimezone(timezone)) {
    return { key: "timezone", message: "must be an IANA time zone such as Europe/Berlin" };
  }
  if (typeof given !== "string") return { key: "cron", message: "must be a string" };
  const fields = given.trim().split(/\s+/);
  if (fields.length !== 5) {
    return { key: "cron", message: "must have five fields: minute, hour, day of month, month, day of week" };
  }
  const cron = fields.join(" ");
  if (/[^0-9*/,?#\s-]/.test(cron.replace(CRON_WORDS, ""))) {
    return { key: "cron", message: "holds a sign that is no part of a cron expression" };
  }
  try {
    // Also refuses what never comes, such as 30 February.
    CronExpressionParser.parse(cron, { tz: timezone }).next();
    return { cron, timezone };
  } catch (error) {
    return { key: "cron", message: `is not a cron expression that comes due: ${(error as Error).message}` };
  }
}

/**
 * Reads a timer as a request or a component's default gives it, `{intervalSeconds}` or `{cron, timezone?}`; the
 * response's `{cron, interval_seconds, timezone?}` is read too, so that what was answered can be sent back.
 */
export function readTimer(given: unknown): Timer | TimerFault {
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    return { key: "", message: "must be {intervalSeconds} or {cron, timezone}" };
  }
  const unknownKey = Object.keys(given).find(key => !KEYS.includes(key));
  if (unknownKey !== undefined) return { key: "", message: `has no ${JSON.stringify(unknownKey)}` };
  const { cron, timezone, ...interval } = given as Record<string, unknown>;
  const seconds = interval.intervalSeconds ?? interval.interval_seconds ?? null;
  const isCron = cron !== undefined && cron !== null;
  if (isCron && seconds !== null) return { key: "", message: "takes cron or intervalSeconds, not both" };
  if (isCron) return readCron(cron, timezone);
  if (seconds === null) return { key: "", message: "needs cron or intervalSeconds" };
  if (timezone !== undefined && timezone !== null) {
    return { key: "timezone", message: "goes with cron, not with an interval" };
  }
  const isInRange = Number.isInteger(seconds) && Number(seconds) >= MIN_INTERVAL_SECONDS;
  if (!isInRange || Number(seconds) > MAX_INTERVAL_SECONDS) {
    const range = `${MIN_INTERVAL_SECONDS} to ${MAX_INTERVAL_SECONDS}`;
    return { key: "intervalSeconds", message: `must be an integer from ${range}` };
  }
  return { intervalSeconds: Number(seconds) };
}

/** True for what `readTimer` could not read. */
export const isFault = (read: Timer | TimerFault): read is TimerFault => "message" in read;

/** `2024-05-01T08:00:00-04:00` and its parts. */
function localTime(atMs: number, timezone: string) {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: timezone,
    hourCycle: "h23",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    timeZoneName: "longOffset",
  });
  const part = Object.fromEntries(format.formatToParts(atMs).map(({ type, value }) => [type, value]));
  const offset = part.timeZoneName?.replace("GMT", "") || "+00:00";
  const date = `${part.year}-${part.month}-${part.day}`;
  const time = `${part.hour}:${part.minute}:${part.second}${offset}`;
  return { timezone, iso8601: { timestamp: `${date}T${time}`, date, time } };
}

/**
 * What `run` gets when the timer comes due (runtime.md, "Events given to run").
 * @param atMs the moment it was due, Unix milliseconds
 */
export function timerEvent(timer: Timer, atMs: number): Record<string, unknown> {
  const timestamp = Math.floor(atMs / 1000);
  if ("intervalSeconds" in timer) return { timestamp, interval_seconds: timer.intervalSeconds };
  return {
    timestamp,
    cron: timer.cron,
    timezone_configured: localTime(atMs, timer.timezone),
    timezone_utc: localTime(atMs, "UTC"),
  };
}
