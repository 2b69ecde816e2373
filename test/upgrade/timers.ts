import { startCountingReceiver } from "../faults/counting-receiver.ts";
import type { Lab } from "../faults/lab.ts";
import { until } from "../support/until.ts";

const INTERVAL_SECONDS = 3;
const SOURCE = `export default { name: "Beat", version: "0.0.1",
  props: { timer: { type: "$.interface.timer", default: { intervalSeconds: ${INTERVAL_SECONDS} } } },
  run({ timestamp }) { this.$emit({ key: String(timestamp) }); } };`;

export interface Timers {
  /** Resolves once each timer has ticked again, and the tick was delivered. */
  tick(): Promise<unknown>;
  /** Deletes the sources; returns what was delivered of their ticks. */
  stop(): Promise<{ ticks: number; missed: number; doubled: string[] }>;
  /** Closes their endpoint: after this no delivery of theirs may be left. */
  close(): Promise<void>;
}

/** Deploys sources with timers, each with a webhook of its own. */
export async function startTimers({ api }: Lab, count: number): Promise<Timers> {
  // The lab's own counts the events of the load.
  const receiver = await startCountingReceiver();
  const paths = Array.from({ length: count }, (_, n) => `/timers-${n}`);
  const ids = await Promise.all(
    paths.map(async (path, n) => {
      const { id } = await api.createSource({ component_code: SOURCE, name: `beat ${n}` });
      const webhook = await api.createWebhook(receiver.urlOf(path));
      await api.subscribe(id, webhook.id);
      return id;
    }),
  );
  const counts = () => paths.map(path => receiver.at(path).size);
  return {
    close: () => receiver.close(),
    tick() {
      const before = counts();
      const isLater = () => counts().every((now, i) => now > (before[i] ?? 0) + 1);
      return until(isLater, { timeoutMs: 180_000, what: "each timer to tick" });
    },
    async stop() {
      for (const id of ids) {
        const deleted = await api.request("DELETE", `/sources/${id}`);
        if (deleted.status !== 204) throw new Error(`deleting a source: ${deleted.status} ${deleted.text}`);
      }
      const doubled: string[] = [];
      let [ticks, missed] = [0, 0];
      for (const path of paths) {
        const arrivals = receiver.at(path);
        for (const [key, { webhookIds, requests }] of arrivals) {
          if (webhookIds.size > 1 || requests > 1) doubled.push(`${key} at ${path}`);
        }
        const seconds = [...arrivals.keys()].map(Number).sort((a, b) => a - b);
        ticks += seconds.length;
        missed += seconds.reduce((sum, at, i) => {
          const since = i === 0 ? INTERVAL_SECONDS : at - (seconds[i - 1] ?? at);
          return sum + Math.max(0, Math.round(since / INTERVAL_SECONDS) - 1);
        }, 0);
      }
      return { ticks, missed, doubled };
    },
  };
}
