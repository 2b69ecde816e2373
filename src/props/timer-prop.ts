import type { DescribedProp } from "../sandbox/protocol.ts";
import type { CheckedValue, PropFault } from "./check-value.ts";
import { stepFault } from "./cron.ts";
import { isTimerFault, parseTimer, type Timer, type TimerFault } from "./timer.ts";

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
