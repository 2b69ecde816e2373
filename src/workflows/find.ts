import { type Workflow, Workflows } from "../models/workflow.ts";
import type { Platform } from "../platform.ts";

/** Returns a workflow of one of these owners, otherwise null (docs/design.md#guarantee-6). */
export function findWorkflow(
  platform: Pick<Platform, "mongo">,
  id: string,
  owners: string[],
): Promise<Workflow | null> {
  return Workflows(platform.mongo)
    .findOne({ _id: id, owner_id: { $in: owners } })
    .lean();
}
