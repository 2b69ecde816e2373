import { until } from "../support/until.ts";
import type { Town } from "./town.ts";

/** What B experienced: milliseconds from its request to its delivery. */
export interface Experience {
  p50: number;
  p95: number;
  lost: number;
  sent: number;
}

/** How long after the last request a delivery may arrive. */
const LAST_MS = 120_000;

let lastKey = 0;

/** B sends `count` events, one every `everyMs`, whether or not the ones before have arrived. */
export async function experienceOf(town: Town, count: number, everyMs: number): Promise<Experience> {
  const sentAt = new Map<string, number>();
  const latencies = new Map<string, number>();
  const seen = town.receiver.requests.length;
  town.receiver.script(request => {
    const { key } = JSON.parse(request.raw) as { key: string };
    const at = sentAt.get(key);
    if (at !== undefined && !latencies.has(key)) latencies.set(key, Date.now() - at);
    return 200;
  });
  const requests: Promise<void>[] = [];
  for (let n = 0; n < count; n++) {
    const key = `b-${++lastKey}`;
    sentAt.set(key, Date.now());
    requests.push(accepted(town.endpointUrl, { key }));
    await new Promise(resolve => setTimeout(resolve, everyMs));
  }
  await Promise.all(requests);
  await until(() => latencies.size === count, { timeoutMs: LAST_MS, what: "B's events" }).catch(
    () => undefined,
  );
  town.receiver.requests.splice(seen);
  const sorted = [...latencies.values()].sort((one, other) => one - other);
  const at = (share: number) => sorted[Math.ceil(sorted.length * share) - 1] ?? Number.POSITIVE_INFINITY;
  return { p50: at(0.5), p95: at(0.95), lost: count - latencies.size, sent: count };
}

/** As B's client does: a request that is not accepted is sent again, and its time counts from the first one. */
async function accepted(url: string, body: object): Promise<void> {
  const endsAt = Date.now() + LAST_MS;
  while (Date.now() < endsAt) {
    try {
      const response = await fetch(url, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      await response.arrayBuffer();
      if (response.ok) return;
    } catch {
      // The connection failed: as if it had been rejected.
    }
    await new Promise(resolve => setTimeout(resolve, 100));
  }
}
