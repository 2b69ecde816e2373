import { AcceptedWork } from "../../src/models/accepted.ts";
import { Deliveries } from "../../src/models/delivery.ts";
import { StoredEvents } from "../../src/models/event.ts";
import type { Platform } from "../../src/platform.ts";
import { listSettled } from "../../src/store/runs/settled-runs.ts";

/** Pending deliveries that are shown whole: what waits for what is in their fields. */
const PENDING_SHOWN = 2;

/** Those whose jobs are open work. */
export const QUEUES = ["runs", "emissions", "deliveries"];

/** Between two looks: one counts thousands of rows while the system under test works. Milliseconds. */
export const LOOK_EVERY_MS = 250;

/** Returns what of these emitters still waits, is in progress, or is left to the sweep; empty if everything is done. */
export async function openWork(platform: Platform, emitterIds: string[]): Promise<Record<string, unknown>> {
  const open: Record<string, unknown> = {};
  for (const name of QUEUES) {
    const counts = await platform.queues
      .get(name)
      ?.getJobCounts("waiting", "prioritized", "active", "delayed");
    if (Object.values(counts ?? {}).some(count => count > 0)) open[name] = counts;
  }
  for (const emitter of emitterIds) {
    const queued = await platform.runQueue.length(emitter);
    const settled = await listSettled(platform, emitter);
    if (queued + settled.length > 0) open[emitter] = { queued, settled: settled.length };
  }
  const which = { state: "pending" as const, emitter_id: { $in: emitterIds } };
  const pending = await Deliveries(platform.mongo).countDocuments(which);
  if (pending > 0) {
    open.pending = pending;
    open.first_pending = await Deliveries(platform.mongo).find(which).limit(PENDING_SHOWN).lean();
  }
  const accepted = await AcceptedWork(platform.mongo).countDocuments();
  if (accepted > 0) open.accepted = accepted;
  const undispatched = await StoredEvents(platform.mongo)
    .findOne({ "pending_dispatch.sweep_at_ms": { $gt: 0 } })
    // Otherwise MongoDB reads every event when there is none.
    .hint("pending_dispatch")
    .lean();
  if (undispatched) open.undispatched = undispatched;
  return open;
}
