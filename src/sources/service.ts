import { type Component, Components } from "../components/model.ts";
import { AppError } from "../errors.ts";
import type { Platform } from "../platform.ts";
import { newId } from "../store/ids.ts";
import { transaction } from "../store/mongo.ts";
import { pageOf } from "../store/page.ts";
import { subscribeNewEmitter } from "../subscriptions/auto.ts";
import { saveCandidate, takeUpComponent } from "./commit.ts";
import { enqueueRun } from "./enqueue-run.ts";
import type { Candidate, ChangeItem } from "./line-item.ts";
import { type Source, Sources } from "./model.ts";
import { type Deployer, type PreparePlatform, prepareSource, type SourceInput } from "./prepare.ts";
import { removeTimer, syncTimer } from "./schedule.ts";

type ServicePlatform = PreparePlatform & Pick<Platform, "queues" | "runLine" | "replies" | "log">;

/** How long a change may wait for a worker before it is void; never longer than its hooks may take. */
const CHANGE_WAITS_MS = 15_000;

const seconds = (platform: Pick<Platform, "clock">) => Math.floor(platform.clock() / 1000);

const hasHooks = (component: Component, ...hooks: Component["description"]["hooks"]) =>
  component.description.hooks.some(hook => hooks.includes(hook));

/**
 * Deploys a source: checks, saves, calls its deploy and activate hooks, and only then lets it exist. Throws `invalid`
 * when a hook refuses, `unavailable` when no worker came to it; nothing is left then.
 */
export async function createSource(
  platform: ServicePlatform,
  deployer: Deployer,
  input: SourceInput & { emit_on_deploy?: boolean },
): Promise<Source> {
  const { fields, component } = await prepareSource(platform, deployer, input);
  const isHooked = hasHooks(component, "deploy", "activate");
  const now = seconds(platform);
  const source: Source = {
    _id: newId("dc", platform.clock()),
    owner_id: deployer.owner,
    user_id: deployer.userId,
    ...fields,
    timer: fields.timer as Source["timer"],
    state: isHooked ? "deploying" : "ready",
    change_id: null,
    created_at: now,
    updated_at: now,
  };
  await transaction(platform.mongo, async session => {
    await takeUpComponent(platform, source.component_id, session);
    await Sources(platform.mongo).insertMany([source], { session });
    if (!isHooked) {
      await subscribeNewEmitter(platform, { id: source._id, owner_id: source.owner_id }, session);
    }
  });
  if (isHooked) await deploy(platform, source, input.emit_on_deploy ?? true);
  return settle(platform, { ...source, state: "ready" });
}

async function deploy(platform: ServicePlatform, source: Source, emitOnDeploy: boolean): Promise<void> {
  try {
    await askForChange(platform, source._id, { op: "create", emit_on_deploy: emitOnDeploy });
  } catch (error) {
    const { deletedCount } = await Sources(platform.mongo).deleteOne({ _id: source._id, state: "deploying" });
    // Not deleted by us: either the hook refused (the worker took it away), or it is ready after all.
    if (deletedCount === 0 && (await Sources(platform.mongo).exists({ _id: source._id }))) return;
    throw error;
  }
}

/** Changes a source; what the request leaves out stays, but `active`, which becomes true (rest-api.md, section 3). */
export async function updateSource(
  platform: ServicePlatform,
  deployer: Deployer,
  source: Source,
  input: SourceInput,
): Promise<Source> {
  const { fields, component } = await prepareSource(
    platform,
    { ...deployer, owner: source.owner_id },
    input,
    source,
  );
  const old = await componentOf(platform, source);
  if (hasHooks(component, "activate", "deactivate") || hasHooks(old, "deactivate")) {
    await askForChange(platform, source._id, { op: "update", candidate: fields });
  } else {
    await transaction(platform.mongo, session => saveCandidate(platform, source, fields, session));
  }
  const changed = await Sources(platform.mongo).findById(source._id).lean();
  return settle(platform, changed ?? { ...source, ...(fields as Candidate & { timer: Source["timer"] }) });
}

async function componentOf(platform: ServicePlatform, source: Source): Promise<Component> {
  const component = await Components(platform.mongo).findById(source.component_id).lean();
  if (!component) throw new AppError("conflict", "the source's component is gone");
  return component;
}

/** Takes a source away: absent at once, its deactivate hook and the cleaning follow in the runs worker. */
export async function deleteSource(platform: ServicePlatform, source: Source): Promise<void> {
  const { matchedCount } = await Sources(platform.mongo).updateOne(
    { _id: source._id, state: "ready" },
    { $set: { state: "deleting", active: false, updated_at: seconds(platform) } },
  );
  if (matchedCount === 0) return;
  // What fails from here on is repaired by the reconciler, which looks for sources that are `deleting`.
  try {
    await removeTimer(platform, source._id);
    await enqueueDelete(platform, source._id);
  } catch (error) {
    platform.log.warn({ source_id: source._id, err: error }, "deletion waits for the reconciler");
  }
}

export async function enqueueDelete(
  platform: Pick<Platform, "queues" | "runLine" | "clock">,
  sourceId: string,
) {
  await enqueueRun(platform, sourceId, {
    kind: "change",
    op: "delete",
    run_id: newId("run", platform.clock()),
    at_ms: platform.clock(),
  });
}

/** Its timer follows; the reconciler does it when Redis does not answer now. */
async function settle(platform: ServicePlatform, source: Source): Promise<Source> {
  try {
    await syncTimer(platform, source);
  } catch (error) {
    platform.log.warn({ source_id: source._id, err: error }, "timer waits for the reconciler");
  }
  return source;
}

/** Puts a change into the source's line and waits for the worker's word. */
async function askForChange(
  platform: ServicePlatform,
  sourceId: string,
  change: Pick<ChangeItem, "op" | "candidate" | "emit_on_deploy">,
): Promise<void> {
  const replies = await platform.replies();
  const runId = newId("run", platform.clock());
  const { hookMs } = platform.config.sandbox;
  const waitsMs = Math.min(CHANGE_WAITS_MS, hookMs);
  const answer = replies.first(runId, waitsMs + 2 * hookMs);
  await enqueueRun(platform, sourceId, {
    kind: "change",
    run_id: runId,
    at_ms: platform.clock(),
    reply_to: replies.address,
    expires_at_ms: platform.clock() + waitsMs,
    ...change,
  });
  const reply = await answer;
  if (!reply || (reply.type === "ended" && reply.error?.code === "void")) {
    throw new AppError("unavailable", "no worker applied the change in time", { retryAfterMs: 5000 });
  }
  if (reply.type === "ended" && reply.error) {
    throw new AppError(
      "invalid",
      `${change.op === "create" ? "deploying" : "updating"} the source failed: ${reply.error.message}`,
      {
        fields: [{ in: "component", path: "hooks", message: `${reply.error.code}: ${reply.error.message}` }],
      },
    );
  }
}

/** A source of one of these owners, by id or name slug; null otherwise. */
export function findSource(
  platform: Pick<Platform, "mongo">,
  idOrSlug: string,
  owners: string[],
): Promise<Source | null> {
  const named = idOrSlug.startsWith("dc_") ? { _id: idOrSlug } : { name_slug: idOrSlug };
  return Sources(platform.mongo)
    .findOne({ ...named, owner_id: { $in: owners }, state: "ready" })
    .lean();
}

/** A page of an account's sources, newest first. */
export function listSources(
  platform: Pick<Platform, "mongo" | "redis" | "keys">,
  owner: string,
  page: Parameters<typeof pageOf>[2],
) {
  return pageOf(Sources(platform.mongo), { owner_id: owner, state: "ready" }, page, {
    countCache: { redis: platform.redis, key: platform.keys.listCount(owner, "sources") },
  });
}
