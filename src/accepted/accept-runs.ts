import { stringifyJson } from "../lib/json-text.ts";
import type { Platform } from "../platform.ts";
import { enqueueRuns } from "../queues/enqueue-run.ts";
import type { TriggerItem } from "../queues/run-item.ts";
import type { QueueBounds } from "../store/run-queue.ts";
import { deleteKept } from "./keep.ts";
import { withKept } from "./with-kept.ts";

export type AcceptDeps = Pick<Platform, "mongo" | "config" | "clock" | "replicas" | "runQueue" | "queues">;

/**
 * Enqueues runs of one source so that they are as safe as the settings promise: in MongoDB before
 * (`DURABLE_INGRESS=mongodb`), on replicas of Redis after (`replicas`). Returns for each whether it was accepted or
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
  const rows = kept.map(item => ({
    _id: item.run_id,
    kind: "run" as const,
    owner_id: bounds.ownerId,
    source_id: sourceId,
    body: stringifyJson(item),
  }));
  return await withKept(platform, rows, "runs-kept", async () => {
    const accepted = await push(kept);
    const rejected = kept.filter((_, i) => !accepted[i]).map(({ run_id }) => run_id);
    await deleteKept(platform, rejected);
    return accepted;
  });
}
