import { AppError, notFound } from "../lib/errors.ts";
import { newId } from "../lib/ids.ts";
import { type Component, Components } from "../models/component.ts";
import { type Source, Sources } from "../models/source.ts";
import type { Platform } from "../platform.ts";
import { enqueueRun } from "../queues/enqueue-run.ts";
import { isDuplicateKey, transaction } from "../store/mongo.ts";
import { pageOf } from "../store/page.ts";
import { subscribeNewEmitter } from "../subscriptions/auto.ts";
import { type ChangePlatform, requestChange } from "./ask-for-change.ts";
import { ChangeSuperseded, markComponentUsed, saveCandidate } from "./commit.ts";
import { type Deployer, type PreparePlatform, prepareSource, type SourceInput } from "./prepare.ts";
import { removeTimer, syncTimer } from "./schedule.ts";
import { anotherSlug, slugOf } from "./slug.ts";

type ServicePlatform = PreparePlatform & ChangePlatform & Pick<Platform, "log">;

/** Changes of one source at once; each round lets one of them through. */
const TRIES = 20;

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
  await insert(platform, source);
  if (isHooked) await deploy(platform, source, input.emit_on_deploy ?? true);
  return settle(platform, { ...source, state: "ready" });
}

async function insert(platform: ServicePlatform, source: Source): Promise<void> {
  try {
    await transaction(platform.mongo, async session => {
      await markComponentUsed(platform, source.component_id, session);
      await Sources(platform.mongo).insertMany([source], { session });
      if (source.state === "ready") {
        await subscribeNewEmitter(platform, { id: source._id, owner_id: source.owner_id }, session);
      }
    });
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    // Another source took the slug at this moment.
    source.name_slug = anotherSlug(slugOf(source.name));
    await insert(platform, source);
  }
}

async function deploy(platform: ServicePlatform, source: Source, emitOnDeploy: boolean): Promise<void> {
  try {
    await requestChange(platform, source._id, { op: "create", emit_on_deploy: emitOnDeploy });
  } catch (error) {
    const { deletedCount } = await Sources(platform.mongo).deleteOne({ _id: source._id, state: "deploying" });
    // Not deleted by us: either the hook refused (the worker took it away), or it is ready after all.
    if (deletedCount === 0 && (await Sources(platform.mongo).exists({ _id: source._id }))) return;
    throw error;
  }
}

/**
 * Changes a source; what the request leaves out stays, but `active`, which becomes true (rest-api.md, section 3).
 * Changes made at once are applied one after the other. Throws `not-found` when it is deleted meanwhile.
 */
export async function updateSource(
  platform: ServicePlatform,
  deployer: Deployer,
  source: Source,
  input: SourceInput,
): Promise<Source> {
  let before = source;
  for (let tries = 0; tries < TRIES; tries += 1) {
    const outcome = await tryUpdate(platform, deployer, before, input);
    const now = await Sources(platform.mongo).findOne({ _id: source._id, state: "ready" }).lean();
    if (!now) throw notFound("source");
    if (outcome === "applied") return settle(platform, now);
    before = now;
  }
  throw new AppError("conflict", "other changes of this source come too fast");
}

/** `stale`: the source is not what it was when the change was prepared, and nothing was done. */
async function tryUpdate(
  platform: ServicePlatform,
  deployer: Deployer,
  source: Source,
  input: SourceInput,
): Promise<"applied" | "stale"> {
  const owned = { ...deployer, owner: source.owner_id };
  const { fields, component } = await prepareSource(platform, owned, input, source);
  const old = await componentOf(platform, source);
  if (hasHooks(component, "activate", "deactivate") || hasHooks(old, "deactivate")) {
    const change = { op: "update", candidate: fields, prepared_for: source.change_id } as const;
    return requestChange(platform, source._id, change);
  }
  try {
    await transaction(platform.mongo, session => saveCandidate(platform, source, fields, session));
    return "applied";
  } catch (error) {
    if (error instanceof ChangeSuperseded) return "stale";
    throw error;
  }
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
  platform: Pick<Platform, "queues" | "runQueue" | "clock">,
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
