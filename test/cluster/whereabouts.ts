import { Deliveries } from "../../src/models/delivery.ts";
import { StoredEvents } from "../../src/models/event.ts";
import type { Platform } from "../../src/platform.ts";
import type { Sent } from "./send.ts";

/** Looked up for one load. */
const MOST = 20;

/** Says of accepted events that never arrived when they were accepted, how long before or after a kill, and what became of them. */
export async function whereabouts(
  { mongo, queues }: Pick<Platform, "mongo" | "queues">,
  { lost, requests, kills }: { lost: string[]; requests: Sent[]; kills: number[] },
): Promise<string[]> {
  const found = lost.slice(0, MOST).map(async key => {
    const sent = requests.find(({ keys }) => keys.includes(key));
    const endedAt = sent?.endedAt ?? 0;
    const [nearest = 0] = kills.map(at => endedAt - at).sort((a, b) => Math.abs(a) - Math.abs(b));
    const stored = await StoredEvents(mongo)
      .findOne({ event: { $regex: `"${key.replaceAll(".", "\\.")}"` } })
      .lean();
    const states = stored ? await Deliveries(mongo).distinct("state", { event_id: stored.event_id }) : [];
    const what = !stored
      ? "not stored"
      : stored.pending_dispatch
        ? "stored, not dispatched"
        : "stored, dispatched";
    return `${key} (${sent?.kind}), accepted ${nearest} ms after a kill: ${[what, ...states].join(", ")}`;
  });
  if (lost.length === 0) return [];
  const failed = ["runs", "emissions", "deliveries"].map(async name => {
    const jobs = (await queues.get(name)?.getFailed(0, 2)) ?? [];
    return `failed jobs of ${name}: ${jobs.map(({ failedReason }) => failedReason).join(", ") || "none"}`;
  });
  return await Promise.all([...found, ...failed]);
}
