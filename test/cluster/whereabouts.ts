import { Deliveries } from "../../src/models/delivery.ts";
import { StoredEvents } from "../../src/models/event.ts";
import type { Platform } from "../../src/platform.ts";
import type { Sent } from "./send.ts";

/** Looked up for one load. */
const MOST = 20;

/** Says of accepted events that never arrived when they were accepted, how long before or after a kill, and what became of them. */
export async function whereabouts(
  { mongo }: Pick<Platform, "mongo">,
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
  return await Promise.all(found);
}
