import type { ClientSession } from "mongoose";
import { type BegunChange, Sources } from "../models/source.ts";
import type { Platform } from "../platform.ts";

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
