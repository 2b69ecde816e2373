import { failpoint } from "../lib/failpoint.ts";
import type { Platform } from "../platform.ts";
import { enqueueRuns } from "../queues/enqueue-run.ts";
import type { TriggerItem } from "../queues/run-item.ts";
import type { QueueBounds } from "../store/run-queue.ts";
import { deleteKept, keep } from "./keep.ts";

export type AcceptDeps = Pick<Platform, "mongo" | "config" | "clock" | "replicas" | "runQueue" | "queues">;

/**
 * Enqueues runs of one source so that they are as safe as the settings promise: in MongoDB before
 * (`DURABLE_INGRESS=mongodb`), on replicas of Redis after (`ACCEPT_REPLICAS`). Returns for each whether it was accepted or
 * the queue was full. Throws as `enqueueRuns` and `Replicas.confirm` do; after the latter the runs may happen all the same.
 */
export async function acceptRuns(
  platform: AcceptDeps,
  sourceId: string,
  items: TriggerItem[],
  bounds: QueueBounds,
): Promise<boolean[]> {
  const push = (some: TriggerItem[]) =>
    platform.replicas.confirmed(() => enqueueRuns(platform, sourceId, some, bounds));
  if (!platform.config.durableIngress) return await push(items);
  const kept = items.map(item => ({ ...item, kept: true as const }));
  await keep(
    platform,
    kept.map(item => ({
      _id: item.run_id,
      kind: "run",
      owner_id: bounds.ownerId,
      source_id: sourceId,
      body: JSON.stringify(item),
      at_ms: platform.clock(),
    })),
  );
  failpoint("runs-kept");
  const ids = items.map(({ run_id }) => run_id);
  try {
    const accepted = await push(kept);
    const rejected = ids.filter((_, i) => !accepted[i]);
    await deleteKept(platform, rejected);
    return accepted;
  } catch (error) {
    await deleteKept(platform, ids).catch(() => undefined);
    throw error;
  }
}
