import type { Platform } from "../platform.ts";
import { shardsOfSource, upsertScheduler } from "./timer-scheduler.ts";

type Deps = Pick<Platform, "queues" | "clock">;

/** A scheduler that ticks sooner than this stays for once: its tick may be on its way, and must not come twice. */
const SOON_MS = 500;

/**
 * Moves the scheduler of a source that has just ticked to the source's own shard, if the number of shards has grown since
 * it was set. It goes on at the moment at which it would have ticked next. It is removed from where it was last, so that no
 * tick is lost; one that both then make has the same moment, and its run is one (src/store/admit-tick.ts). Throws as the
 * client does.
 */
export async function moveScheduler(
  platform: Deps,
  source: { source_id: string; account_id?: string | undefined },
): Promise<"moved" | "stays"> {
  const { source_id: sourceId, account_id: owner_id } = source;
  const [own, ...others] = shardsOfSource(platform, sourceId);
  for (const shard of others) {
    const scheduler = await shard.getJobScheduler(sourceId);
    const { next, every, pattern, tz } = scheduler ?? {};
    if (next === undefined || next < platform.clock() + SOON_MS) continue;
    // Already there if an earlier move ended half-way, or the source was changed since.
    if ((await own.getJobScheduler(sourceId)) === undefined) {
      const repeat =
        pattern === undefined ? { every: Number(every), startDate: next } : { pattern, tz: tz ?? "UTC" };
      await upsertScheduler(own, { _id: sourceId, owner_id }, repeat);
    }
    await shard.removeJobScheduler(sourceId);
    return "moved";
  }
  return "stays";
}
