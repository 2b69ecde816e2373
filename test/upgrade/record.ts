import { writeFileSync } from "node:fs";
import type { Lab, ProcessName } from "../faults/lab.ts";
import { until } from "../support/until.ts";

/** A job as a release enqueued it. */
export interface RecordedJob {
  queue: string;
  name: string;
  data: unknown;
  opts: Record<string, unknown>;
}

export const RECORDED = new URL("./jobs-of-the-previous-release.json", import.meta.url);

/** Lets an installation of the previous release enqueue a job of each of the main kinds, and writes them down. */
export async function recordJobs(lab: Lab): Promise<void> {
  const { api, emitters, platform } = lab;
  const found = new Map<string, RecordedJob>();
  const look = async () => {
    for (const [queue, opened] of platform.queues) {
      for (const job of await opened.getJobs(["waiting", "prioritized", "delayed"])) {
        const { name, data, opts } = job;
        found.set(`${queue} ${name}`, { queue, name, data, opts: opts as Record<string, unknown> });
      }
    }
  };
  const seen = (kind: string) =>
    until(async () => {
      await look();
      return found.has(kind);
    });
  /** Sends something while the process that would handle it is down. */
  const without = async (name: ProcessName, send: () => Promise<unknown>, kind: string) => {
    await lab.stop(name);
    await send();
    await seen(kind);
    await lab.start(name);
  };
  const publish = (key: string) =>
    api.request("POST", `/workflows/${emitters.published}/events`, { body: { event: { key }, id: key } });

  await without("emissions", () => publish("recorded-1"), "emissions emissions");
  await without("deliveries", () => publish("recorded-2"), "deliveries first-attempts");
  lab.receiver.failSome(true);
  await publish("recorded-7");
  await seen("deliveries next-attempt");
  lab.receiver.failSome(false);
  const post = () =>
    fetch(emitters.endpoints.source, { method: "POST", body: JSON.stringify({ key: "recorded-3" }) });
  await without("runs", post, "runs notify");
  const timer = await api.createSource({
    component_code: `export default { name: "Hourly", version: "0.0.1",
      props: { timer: { type: "$.interface.timer", default: { intervalSeconds: 3600 } } }, run() {} };`,
  });
  await seen("runs tick");
  await api.request("DELETE", `/sources/${timer.id}`);
  const jobs = [...found.values()].sort((a, b) =>
    `${a.queue} ${a.name}`.localeCompare(`${b.queue} ${b.name}`),
  );
  writeFileSync(RECORDED, `${JSON.stringify(jobs, null, 2)}\n`);
}
