import { invalidField, notFound } from "../lib/errors.ts";
import { newId } from "../lib/ids.ts";
import { unixSeconds } from "../lib/unix-seconds.ts";
import { Organizations } from "../models/organization.ts";
import { Users } from "../models/user.ts";
import { Workflows } from "../models/workflow.ts";
import type { Platform } from "../platform.ts";
import { transaction } from "../store/mongo.ts";
import { subscribeNewEmitter } from "../subscriptions/auto.ts";
import { presentWorkflow } from "./present.ts";
import type { WorkflowView } from "./schema.ts";

const MAX_NAME_CHARS = 128;

/**
 * Registers a workflow, together with the auto subscriptions of its account, and returns it. Throws `invalid` for
 * the name, `not-found` for the owner.
 */
export async function createWorkflow(
  platform: Pick<Platform, "mongo" | "clock">,
  { ownerId, name }: { ownerId: string; name: string },
): Promise<WorkflowView> {
  if (name.trim() === "" || name.length > MAX_NAME_CHARS) {
    throw invalidField("body", "name", `must have 1 to ${MAX_NAME_CHARS} characters`);
  }
  const owners = ownerId.startsWith("o_") ? Organizations(platform.mongo) : Users(platform.mongo);
  if (!(await (owners as ReturnType<typeof Users>).exists({ _id: ownerId }))) throw notFound("owner");
  const id = newId("p", platform.clock());
  const workflow = { _id: id, owner_id: ownerId, name, created_at: unixSeconds(platform.clock()) };
  await transaction(platform.mongo, async session => {
    await Workflows(platform.mongo).insertMany([workflow], { session });
    await subscribeNewEmitter(platform, { id, owner_id: ownerId }, session);
  });
  return presentWorkflow(workflow);
}
