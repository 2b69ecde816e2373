import { LRUCache } from "lru-cache";
import { unixSeconds } from "../lib/time.ts";
import type { StoredTimer } from "../models/source.ts";
import type { DescribedProp } from "../sandbox/protocol.ts";
import type { CheckedValue, PropFault } from "./check-value.ts";
import { cronFault, readCron, stepFault } from "./cron.ts";

/** When a timer source runs. `timezone` is an IANA name. */
export type Timer = { intervalSeconds: number } | { cron: string; timezone: string };

/** The shortest interval that job schedulers keep; a source slower than its timer drops ticks, which are counted. */
const MIN_INTERVAL_SECONDS = 1;
/** A year, which in milliseconds is well within the range of a job scheduler. */
const MAX_INTERVAL_SECONDS = 31_536_000;

/** What is wrong with a timer: the key that it concerns (empty for the whole timer) and the message. */
interface TimerFault {
  key: "" | "cron" | "intervalSeconds" | "timezone";
  message: string;
}

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

function parseCron(given: unknown, zone: unknown): Timer | TimerFault {
  const timezone = zone ?? "UTC";
  if (typeof timezone !== "string" || !isTimezone(timezone)) {
    return { key: "timezone", message: "must be an IANA time zone such as Europe/Berlin" };
  }
  if (typeof given !== "string") return { key: "cron", message: "must be a string" };
  const cron = readCron(given);
  const message = cronFault(cron, timezone);
  return message === null ? { cron, timezone } : { key: "cron", message };
}

/**
 * Parses a timer from a request or from a component's code: `{intervalSeconds}` or `{cron, timezone?}`. The shape of
 * responses, `{cron, interval_seconds, timezone?}`, is accepted too, so that a client can send back what it received.
 */
export function parseTimer(given: unknown): Timer | TimerFault {
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    return { key: "", message: "must be {intervalSeconds} or {cron, timezone}" };
  }
  const unknownKey = Object.keys(given).find(key => !KEYS.includes(key));
  if (unknownKey !== undefined) {
    return { key: "", message: `must not have the key ${JSON.stringify(unknownKey)}` };
  }
  const { cron, timezone, ...interval } = given as Record<string, unknown>;
  const seconds = interval.intervalSeconds ?? interval.interval_seconds ?? null;
  const isCron = cron !== undefined && cron !== null;
  if (isCron && seconds !== null) return { key: "", message: "must have cron or intervalSeconds, not both" };
  if (isCron) return parseCron(cron, timezone);
  if (seconds === null) return { key: "", message: "must have cron or intervalSeconds" };
  if (timezone !== undefined && timezone !== null) {
    return { key: "timezone", message: "is only allowed with cron" };
  }
  const isInRange = Number.isInteger(seconds) && Number(seconds) >= MIN_INTERVAL_SECONDS;
  if (!isInRange || Number(seconds) > MAX_INTERVAL_SECONDS) {
    const range = `${MIN_INTERVAL_SECONDS} to ${MAX_INTERVAL_SECONDS}`;
    return { key: "intervalSeconds", message: `must be an integer from ${range}` };
  }
  return { intervalSeconds: Number(seconds) };
}

/** True for the result of `parseTimer` if the timer was not valid. */
export const isTimerFault = (parsed: Timer | TimerFault): parsed is TimerFault => "message" in parsed;

/** A timer as MongoDB stores it with its source. */
export function toStoredTimer(timer: Timer): StoredTimer {
  if ("cron" in timer) return { cron: timer.cron, timezone: timer.timezone, interval_seconds: null };
  return { cron: null, timezone: null, interval_seconds: timer.intervalSeconds };
}

export function fromStoredTimer({ cron, timezone, interval_seconds }: StoredTimer): Timer {
  return cron === null ? { intervalSeconds: interval_seconds ?? 0 } : { cron, timezone: timezone ?? "UTC" };
}

/** A format takes 0.2 ms to make; there are some 600 time zones with all their names. */
const formats = new LRUCache<string, Intl.DateTimeFormat>({ max: 100 });

function formatOf(timezone: string): Intl.DateTimeFormat {
  const known = formats.get(timezone);
  if (known) return known;
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
  formats.set(timezone, format);
  return format;
}

/** Returns a moment in a time zone, such as `2024-05-01T08:00:00-04:00`, with its date and time parts. */
function localTime(atMs: number, timezone: string) {
  const part = Object.fromEntries(
    formatOf(timezone)
      .formatToParts(atMs)
      .map(({ type, value }) => [type, value]),
  );
  const offset = part.timeZoneName?.replace("GMT", "") || "+00:00";
  const date = `${part.year}-${part.month}-${part.day}`;
  const time = `${part.hour}:${part.minute}:${part.second}${offset}`;
  return { timezone, iso8601: { timestamp: `${date}T${time}`, date, time } };
}

/**
 * Returns the event that `run` receives when a timer is due (docs/component-api.md#events-given-to-run).
 * @param dueAtMs when it was due, Unix milliseconds
 */
export function timerEvent(timer: Timer, dueAtMs: number): Record<string, unknown> {
  const timestamp = unixSeconds(dueAtMs);
  if ("intervalSeconds" in timer) return { timestamp, interval_seconds: timer.intervalSeconds };
  return {
    timestamp,
    cron: timer.cron,
    timezone_configured: localTime(dueAtMs, timer.timezone),
    timezone_utc: localTime(dueAtMs, "UTC"),
  };
}

/** The interval of a timer prop if neither its code nor its source sets one (docs/component-api.md#props). */
const DEFAULT_INTERVAL_SECONDS = 900;

const isAbsent = (value: unknown): boolean => value === undefined || value === null;

/** Returns the timer of a source: the one its code fixes, else the configured one, else the code's default. */
export function effectiveTimer(prop: DescribedProp, configured: unknown): Timer {
  for (const candidate of [prop.static, configured, prop.default]) {
    const timer = isAbsent(candidate) ? null : parseTimer(candidate);
    if (timer !== null && !isTimerFault(timer)) return timer;
  }
  return { intervalSeconds: DEFAULT_INTERVAL_SECONDS };
}

/** Parses a timer that is given now. What is stored may have a step that earlier releases accepted. */
function parseGiven(given: unknown): Timer | TimerFault {
  const timer = parseTimer(given);
  const message = "cron" in timer ? stepFault(timer.cron) : null;
  return message === null ? timer : { key: "cron", message };
}

const declaredFault = (prop: DescribedProp, key: "static" | "default"): PropFault[] => {
  const timer = isAbsent(prop[key]) ? null : parseGiven(prop[key]);
  return timer !== null && isTimerFault(timer) ? [{ path: `.${key}`, message: textOf(timer) }] : [];
};

/** Checks the timer that the code fixes. A default counts only where none is configured: see `checkDefaultTimer`. */
export const checkDeclaredTimer = (prop: DescribedProp): PropFault[] => declaredFault(prop, "static");

/** Checks the code's default, for a source that configures no timer. */
export const checkDefaultTimer = (prop: DescribedProp): PropFault[] =>
  isAbsent(prop.static) ? declaredFault(prop, "default") : [];

const textOf = ({ key, message }: TimerFault): string => `${key} ${message}`.trim();

/** Checks a configured timer. Only the fixed timer itself may be configured for a prop whose code fixes one. */
export function checkTimer(prop: DescribedProp, given: unknown): CheckedValue {
  const timer = parseGiven(given);
  if (isTimerFault(timer)) {
    return { faults: [{ path: timer.key && `.${timer.key}`, message: timer.message }] };
  }
  const fixed = isAbsent(prop.static) ? null : effectiveTimer(prop, undefined);
  if (fixed !== null && JSON.stringify(fixed) !== JSON.stringify(timer)) {
    return { faults: [{ path: "", message: "is fixed by the component" }] };
  }
  return { value: timer };
}

/** Returns a timer as API responses show it (docs/rest-api.md#source). */
export function presentTimer(timer: Timer): Record<string, unknown> {
  if ("intervalSeconds" in timer) return { cron: null, interval_seconds: timer.intervalSeconds };
  return { cron: timer.cron, interval_seconds: null, timezone: timer.timezone };
}
