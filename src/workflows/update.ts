import { notFound } from "../lib/errors.ts";
import { unixSeconds } from "../lib/unix-seconds.ts";
import { type Workflow, Workflows } from "../models/workflow.ts";
import type { Platform } from "../platform.ts";
import { presentWorkflow } from "./present.ts";
import type { WorkflowChanges, WorkflowView } from "./schema.ts";

/** Changes the given fields of a workflow and returns it. Throws `not-found` if it has been deleted since. */
export async function updateWorkflow(
  platform: Pick<Platform, "mongo" | "clock">,
  { _id }: Workflow,
  changes: WorkflowChanges,
): Promise<WorkflowView> {
  const updated = await Workflows(platform.mongo)
    .findOneAndUpdate(
      { _id },
      { $set: { ...changes, updated_at: unixSeconds(platform.clock()) } },
      { returnDocument: "after" },
    )
    .lean<Workflow | null>();
  if (!updated) throw notFound("workflow");
  return presentWorkflow(updated);
}
