import type { RunRecord } from "../models/run.ts";
import type { Platform } from "../platform.ts";

/** Counts a recorded run for its source and its account, and shows it to live views. A part of an outbox is not a run. */
export function noteRun({ activity }: Pick<Platform, "activity">, record: RunRecord): void {
  const { _id, source_id, owner_id, kind, error } = record;
  if (kind === "part") return;
  activity.count([owner_id, source_id], error ? ["runs", "run_errors"] : ["runs"]);
  activity.show(owner_id, "runs", _id, () => {
    const { outbox: _outbox, ...shown } = record;
    return shown;
  });
}
