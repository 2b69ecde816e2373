import { randomBytes } from "node:crypto";

/** What every workload sends. */
export interface BenchEvent {
  /** Of which load it is: a measurement, or its warm-up. What comes again later is known by it. */
  load: number;
  /** Its number in the load. */
  n: number;
  /** When it was sent: Unix ms with fractions. */
  at: number;
  /** Makes it 1 KiB. */
  fill: string;
}

const EVENT_BYTES = 1024;
/** Random, so that neither store gains by compressing it. */
const FILL = randomBytes(EVENT_BYTES).toString("base64url");

/** Unix milliseconds with fractions, so that two processes' times can be compared. */
export const preciseNow = (): number => performance.timeOrigin + performance.now();

/** An event of exactly 1 KiB of JSON, sent now. */
export function newEvent(load: number, n: number): BenchEvent {
  const event: BenchEvent = { load, n, at: preciseNow(), fill: "" };
  event.fill = FILL.slice(0, EVENT_BYTES - JSON.stringify(event).length);
  return event;
}
