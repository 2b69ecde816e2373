import type { ClientSession } from "mongoose";
import { type BegunChange, type Source, Sources } from "../models/source.ts";
import type { Platform } from "../platform.ts";
import { enqueueRun } from "../queues/enqueue-run.ts";
import { ofAccount } from "../store/run-queue.ts";

type Deps = Pick<Platform, "mongo" | "clock">;

/**
 * Notes, before a hook is called, that a change of a source has begun: from now on the change is finished or undone,
 * whatever becomes of the worker (docs/component-api.md#hooks).
 */
export async function noteBegun(
  platform: Deps,
  sourceId: string,
  runId: string,
  stage: BegunChange["stage"],
): Promise<void> {
  await Sources(platform.mongo).updateOne(
    { _id: sourceId },
    { $set: { begun: { run_id: runId, stage, at_ms: platform.clock() } } },
  );
}

/**
 * Has a worker call the deactivate hook of a source that was switched off, once no run of it is executed. If it is lost, the reconciler
 * asks again.
 */
export async function enqueueDeactivation(
  platform: Pick<Platform, "queues" | "runQueue">,
  { _id, owner_id, begun }: Pick<Source, "_id" | "owner_id" | "begun">,
): Promise<void> {
  if (begun?.stage !== "switched-off") return;
  const { run_id, at_ms } = begun;
  const item = { kind: "change", v: 2, op: "deactivate", run_id, at_ms } as const;
  await enqueueRun(platform, _id, item, ofAccount(owner_id));
}

/** Forgets a change that is finished or undone; in the transaction that stores its effects. */
export async function forgetBegun(
  platform: Pick<Platform, "mongo">,
  sourceId: string,
  runId: string,
  session: ClientSession,
): Promise<void> {
  await Sources(platform.mongo).updateOne(
    { _id: sourceId, "begun.run_id": runId },
    { $unset: { begun: 1 } },
    { session },
  );
}
