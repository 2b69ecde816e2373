import type { Received } from "./processes/receiver.ts";
import type { Sent } from "./processes/sender.ts";
import { quantile } from "./times.ts";

/** How a load behaves that is accepted faster than it is delivered. */
export interface Backlog {
  /** Deliveries that were left when the last event was accepted. */
  deliveriesLeft: number;
  deliveredPerSecond: { whileSending: number; after: number };
  /** Milliseconds until an event was accepted, of the first and the last quarter of those sent. */
  acceptance: Record<"first" | "last", { p50: number; p95: number }>;
}

export function backlogOf(sent: Sent, { arrivals }: Received, deliveriesPerEvent: number): Backlog {
  const { startedAtMs, endedAtMs, accepted, responseMs } = sent;
  const before = arrivals.filter(ms => ms <= endedAtMs).length;
  const quarter = Math.ceil(responseMs.length / 4);
  const acceptance = (some: Float64Array) => {
    const ascending = some.sort();
    return { p50: quantile(ascending, 0.5), p95: quantile(ascending, 0.95) };
  };
  const perSecond = (count: number, ms: number) => (ms > 0 ? (count * 1000) / ms : 0);
  return {
    deliveriesLeft: accepted * deliveriesPerEvent - before,
    deliveredPerSecond: {
      whileSending: perSecond(before, endedAtMs - startedAtMs),
      after: perSecond(arrivals.length - before, (arrivals.at(-1) ?? endedAtMs) - endedAtMs),
    },
    acceptance: {
      first: acceptance(responseMs.slice(0, quarter)),
      last: acceptance(responseMs.slice(-quarter)),
    },
  };
}
