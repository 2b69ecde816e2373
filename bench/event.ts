import { randomBytes } from "node:crypto";

/** The event that every workload sends. */
export interface BenchEvent {
  /** The number of its load (a measurement or its warm-up), by which the receiver recognizes late doubles. */
  load: number;
  /** Its number in the load. */
  n: number;
  /** When it was sent: Unix ms with fractions. */
  at: number;
  /** Pads it to its size. */
  fill: string;
}

const EVENT_BYTES = 1024;
/** The largest event that a measurement may ask for. */
const MAX_EVENT_BYTES = 65_536;
/** Random, so that neither store gains by compressing it. */
const FILL = randomBytes(MAX_EVENT_BYTES).toString("base64url");

/** Unix milliseconds with fractions, comparable between processes. */
export const preciseNow = (): number => performance.timeOrigin + performance.now();

/** An event of exactly so many bytes of JSON, 1 KiB by default, sent now. */
export function newEvent(load: number, n: number, bytes = EVENT_BYTES): BenchEvent {
  const event: BenchEvent = { load, n, at: preciseNow(), fill: "" };
  event.fill = FILL.slice(0, bytes - JSON.stringify(event).length);
  return event;
}
