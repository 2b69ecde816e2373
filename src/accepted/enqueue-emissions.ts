import { newToken } from "../lib/ids.ts";
import { stringifyJson } from "../lib/json-text.ts";
import type { Platform } from "../platform.ts";
import { enqueueAll } from "../queues/define-queue.ts";
import { accountOf, type EmissionsJob, emissions } from "../queues/emissions.ts";
import { withKept } from "./with-kept.ts";

/**
 * Enqueues jobs of emissions in one round trip, all or none. With `DURABLE_INGRESS=mongodb`, MongoDB has them before, until
 * they are handled. Throws as `enqueueAll` does.
 */
export async function enqueueEmissionJobs(
  platform: Pick<Platform, "mongo" | "config" | "queues" | "clock">,
  jobs: EmissionsJob[],
): Promise<void> {
  if (jobs.length === 0) return;
  const enqueue = (some: EmissionsJob[]) => enqueueAll(platform.queues, emissions.jobs.emissions, some);
  if (!platform.config.durableIngress) return await enqueue(jobs);
  const kept = jobs.map(job => ({ ...job, kept: newToken() }));
  const rows = kept.map(job => ({
    _id: job.kept,
    kind: "emissions" as const,
    owner_id: accountOf(job),
    body: stringifyJson(job),
  }));
  await withKept(platform, rows, "emissions-kept", () => enqueue(kept));
}
