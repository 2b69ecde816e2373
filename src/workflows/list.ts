import { Workflows } from "../models/workflow.ts";
import type { Platform } from "../platform.ts";
import { mapPage, type Page, type PageRequest, pageOf } from "../store/page.ts";
import { presentWorkflow } from "./present.ts";
import type { WorkflowView } from "./schema.ts";

/** Returns a page of an account's workflows, newest first. */
export async function listWorkflows(
  { mongo, redis, keys }: Pick<Platform, "mongo" | "redis" | "keys">,
  ownerId: string,
  page: PageRequest,
): Promise<Page<WorkflowView>> {
  const countCache = { redis, key: keys.listCount(ownerId, "workflows") };
  return mapPage(
    await pageOf(Workflows(mongo), { owner_id: ownerId }, page, { countCache }),
    presentWorkflow,
  );
}
