import { failpoint } from "../lib/failpoint.ts";
import { newToken } from "../lib/ids.ts";
import type { Platform } from "../platform.ts";
import { enqueueAll } from "../queues/define-queue.ts";
import { type EmissionsJob, emissions, emissionsIn } from "../queues/emissions.ts";
import { deleteKept, keep } from "./keep.ts";

/**
 * Enqueues jobs of emissions in one round trip, all or none. With `DURABLE_INGRESS=mongodb`, MongoDB has them before, until
 * they are handled. Throws as `enqueueAll` does.
 */
export async function enqueueEmissionJobs(
  platform: Pick<Platform, "mongo" | "config" | "queues" | "clock">,
  jobs: EmissionsJob[],
): Promise<void> {
  if (jobs.length === 0) return;
  if (!platform.config.durableIngress) {
    await enqueueAll(platform.queues, emissions.jobs.emissions, jobs);
    return;
  }
  const kept = jobs.map(job => ({ ...job, kept: newToken() }));
  await keep(
    platform,
    kept.map(job => ({
      _id: job.kept,
      kind: "emissions",
      owner_id: job.account_id ?? emissionsIn(job)[0]?.emitter_id ?? "",
      body: JSON.stringify(job),
      at_ms: platform.clock(),
    })),
  );
  failpoint("emissions-kept");
  try {
    await enqueueAll(platform.queues, emissions.jobs.emissions, kept);
  } catch (error) {
    await deleteKept(
      platform,
      kept.map(job => job.kept),
    ).catch(() => undefined);
    throw error;
  }
}
