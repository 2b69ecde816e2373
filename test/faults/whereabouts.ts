import { Deliveries } from "../../src/models/delivery.ts";
import { StoredEvents } from "../../src/models/event.ts";
import type { Platform } from "../../src/platform.ts";
import { QUEUES } from "./open-work.ts";

/** Looked up for one load. */
const MOST = 20;

/** Says what became of events with these keys, none of which arrived, and why jobs have failed. */
export async function whereabouts(
  { mongo, queues }: Pick<Platform, "mongo" | "queues">,
  keys: string[],
): Promise<string[]> {
  if (keys.length === 0) return [];
  const found = keys.slice(0, MOST).map(async key => {
    const stored = await StoredEvents(mongo)
      .findOne({ event: { $regex: `"${key.replaceAll(".", "\\.")}"` } })
      .lean();
    if (!stored) return `${key}: not stored`;
    const deliveries = await Deliveries(mongo).find({ event_id: stored.event_id }).lean();
    const what = stored.pending_dispatch ? "not dispatched" : "dispatched";
    return `${key}: stored, ${what} ${JSON.stringify({ ...stored.pending_dispatch, deliveries })}`;
  });
  const failed = QUEUES.map(async name => {
    const jobs = (await queues.get(name)?.getFailed(0, 2)) ?? [];
    return `failed jobs of ${name}: ${jobs.map(({ failedReason }) => failedReason).join(", ") || "none"}`;
  });
  return await Promise.all([...found, ...failed]);
}
