import { expect } from "chai";
import { openPublisher } from "../../src/queues/emissions.ts";
import { until } from "../support/until.ts";
import { DEAD } from "./counting-receiver.ts";
import { isFullSize, type Lab } from "./lab.ts";

const HEALTHY_EVENTS = isFullSize ? 3000 : 60;
const DEAD_EVENTS = isFullSize ? 10_000 : 300;
const PAUSE_MS = 5;
/** Below this latency a doubling does not matter. */
const FLOOR_MS = 150;

/**
 * Sends events to a healthy endpoint, alone and then while many more wait for an endpoint that never responds; returns
 * the 99th percentile of the latency in both cases, in milliseconds.
 */
export async function besideDeadEndpoint(lab: Lab): Promise<{ aloneMs: number; besideMs: number }> {
  const { receiver, platform } = lab;
  const [healthy, dead] = [await lab.addEmitter(["/healthy"]), await lab.addEmitter([DEAD])];
  const publish = openPublisher(platform.queues);

  async function p99(name: string): Promise<number> {
    const sentAt = new Map<string, number>();
    for (let n = 0; n < HEALTHY_EVENTS; n++) {
      const key = `${name}:${n}`;
      sentAt.set(key, Date.now());
      await publish({ emitter_id: healthy, emit_id: key, event: { key } });
      await new Promise(resolve => setTimeout(resolve, PAUSE_MS));
    }
    const arrivals = receiver.at("/healthy");
    await until(() => [...sentAt.keys()].every(key => receiver.at("/healthy").has(key)), {
      what: `all events "${name}" at the healthy endpoint`,
    });
    const tookMs = [...sentAt].map(([key, at]) => (arrivals.get(key)?.atMs ?? 0) - at).sort((a, b) => a - b);
    return tookMs[Math.ceil(tookMs.length * 0.99) - 1] ?? 0;
  }

  const aloneMs = await p99("alone");
  const deadEvents = Array.from({ length: DEAD_EVENTS }, (_, n) => `dead:${n}`);
  await Promise.all(deadEvents.map(key => publish({ emitter_id: dead, emit_id: key, event: { key } })));
  await until(() => receiver.at(DEAD).size > 0, { what: "the first attempt at the dead endpoint" });
  const besideMs = await p99("beside");
  expect(receiver.at(DEAD).size, "events that had their attempt at the dead endpoint").to.be.below(
    DEAD_EVENTS,
  );
  if (isFullSize) {
    console.log(`    p99 of the healthy endpoint: ${aloneMs} ms alone, ${besideMs} ms beside the dead one`);
    expect(besideMs).to.be.below(Math.max(2 * aloneMs, FLOOR_MS));
  }
  return { aloneMs, besideMs };
}
