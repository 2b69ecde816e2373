import { accountsOfSubscriptions } from "../accounts/access.ts";
import { invalidField, notFound } from "../lib/errors.ts";
import { newId } from "../lib/ids.ts";
import { unixSeconds } from "../lib/time.ts";
import { StoredEvents } from "../models/event.ts";
import { Organizations } from "../models/organization.ts";
import { AutoSubscriptions, Subscriptions } from "../models/subscription.ts";
import { Users } from "../models/user.ts";
import { WORKFLOW_TEXTS, type Workflow, Workflows } from "../models/workflow.ts";
import type { Stores } from "../platform.ts";
import { transaction } from "../store/connections/mongo.ts";
import { noteDeleted } from "../store/gone.ts";
import { countCacheOf, mapPage, type Page, type PageRequest, pageOf } from "../store/page.ts";
import { deleteRevised, FIRST_REVISION, revisionOf, writeRevision } from "../store/revisions.ts";
import { containing } from "../store/text-filter.ts";
import { subscribeNewEmitter } from "../subscriptions/auto.ts";
import type { WorkflowChanges, WorkflowFilter, WorkflowView } from "./schema.ts";

/** Returns a workflow as API responses show it (docs/rest-api.md#workflows). */
export const presentWorkflow = (workflow: Workflow): WorkflowView => {
  const { _id, name, created_at, updated_at = created_at } = workflow;
  return { id: _id, name, created_at, updated_at, revision: revisionOf(workflow) };
};

/** Returns a workflow of one of these owners, otherwise null (docs/design.md#guarantee-6). */
export function findWorkflow(platform: Stores, id: string, owners: string[]): Promise<Workflow | null> {
  return Workflows(platform.mongo)
    .findOne({ _id: id, owner_id: { $in: owners } })
    .lean();
}

/** Returns a page of an account's workflows, newest first. */
export async function listWorkflows(
  platform: Stores,
  ownerId: string,
  { q }: WorkflowFilter,
  page: PageRequest,
): Promise<Page<WorkflowView>> {
  const workflows = { owner_id: ownerId, ...(q !== undefined && containing<Workflow>(q, WORKFLOW_TEXTS)) };
  const found = await pageOf(Workflows(platform.mongo), workflows, page, {
    countCache: countCacheOf(platform, ownerId, "workflows", { q }),
  });
  return mapPage(found, presentWorkflow);
}

const MAX_NAME_CHARS = 128;

/**
 * Registers a workflow, together with the auto subscriptions of its account, and returns it. Throws `invalid` for
 * the name, `not-found` for the owner.
 */
export async function createWorkflow(
  platform: Stores,
  { ownerId, name }: { ownerId: string; name: string },
): Promise<WorkflowView> {
  if (name.trim() === "" || name.length > MAX_NAME_CHARS) {
    throw invalidField("body", "name", `must have 1 to ${MAX_NAME_CHARS} characters`);
  }
  const owners = ownerId.startsWith("o_") ? Organizations(platform.mongo) : Users(platform.mongo);
  if (!(await (owners as ReturnType<typeof Users>).exists({ _id: ownerId }))) throw notFound("owner");
  const id = newId("p", platform.clock());
  const created_at = unixSeconds(platform.clock());
  const workflow = { _id: id, owner_id: ownerId, name, created_at, revision: FIRST_REVISION };
  await transaction(platform.mongo, async session => {
    await Workflows(platform.mongo).insertMany([workflow], { session });
    await subscribeNewEmitter(platform, { id, owner_id: ownerId }, session);
  });
  return presentWorkflow(workflow);
}

/** Changes the given fields of a workflow and returns it. Throws `not-found` if it has been deleted since. */
export async function updateWorkflow(
  platform: Stores,
  workflow: Workflow,
  changes: WorkflowChanges,
): Promise<WorkflowView> {
  const { _id } = workflow;
  const updated_at = unixSeconds(platform.clock());
  const updated = await writeRevision(workflow, {
    what: "workflow",
    namesIn: () => Object.keys(changes),
    read: () => Workflows(platform.mongo).findById(_id).lean<Workflow | null>(),
    write: (filter, revision) =>
      Workflows(platform.mongo)
        .findOneAndUpdate(
          { _id, ...filter },
          { $set: { ...changes, updated_at, ...revision } },
          { returnDocument: "after" },
        )
        .lean<Workflow | null>(),
  });
  return presentWorkflow(updated);
}

/**
 * Deletes a workflow with its subscriptions and summaries. Deliveries of its events go on; what it has emitted and is not
 * handled yet is dropped and counted as `emitter-deleted` (docs/design.md#guarantee-8). Throws `unavailable`.
 */
export async function deleteWorkflow(platform: Stores, workflow: Workflow): Promise<void> {
  const { _id, owner_id } = workflow;
  const eitherSide = { $or: [{ emitter_id: _id }, { listener_id: _id }] };
  const subscriptions = await Subscriptions(platform.mongo)
    .find(eitherSide, { owner_id: 1, emitter_id: 1 })
    .lean();
  const accounts = await accountsOfSubscriptions(platform, subscriptions);
  // Of one that stays after all nothing is lost: the note is asked for only where no document is found.
  await noteDeleted(platform, _id);
  await transaction(platform.mongo, async session => {
    await deleteRevised(Workflows(platform.mongo), workflow, { session });
    await Subscriptions(platform.mongo).deleteMany(eitherSide, { session });
    await AutoSubscriptions(platform.mongo).deleteMany({ listener_id: _id }, { session });
  });
  await platform.routing.invalidate([owner_id, ...accounts]);
  // What a crash leaves of these expires.
  await StoredEvents(platform.mongo).deleteMany({ emitter_id: _id, has_webhook_listeners: false });
  await platform.eventLog.delete(_id);
}
