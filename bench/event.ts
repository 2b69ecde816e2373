import { randomBytes } from "node:crypto";

/** The event that every workload sends. */
export interface BenchEvent {
  /** The number of its load (a measurement or its warm-up), by which the receiver recognizes late doubles. */
  load: number;
  /** Its number in the load. */
  n: number;
  /** When it was sent: Unix ms with fractions. */
  at: number;
  /** Pads it to 1 KiB. */
  fill: string;
}

const EVENT_BYTES = 1024;
/** Random, so that neither store gains by compressing it. */
const FILL = randomBytes(EVENT_BYTES).toString("base64url");

/** Unix milliseconds with fractions, comparable between processes. */
export const preciseNow = (): number => performance.timeOrigin + performance.now();

/** An event of exactly 1 KiB of JSON, sent now. */
export function newEvent(load: number, n: number): BenchEvent {
  const event: BenchEvent = { load, n, at: preciseNow(), fill: "" };
  event.fill = FILL.slice(0, EVENT_BYTES - JSON.stringify(event).length);
  return event;
}
