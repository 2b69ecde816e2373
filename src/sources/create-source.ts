import { checkCount } from "../accounts/limits.ts";
import { checkQuota } from "../accounts/quota.ts";
import { markComponentUsed } from "../components/components.ts";
import type { Deployer } from "../components/deployer.ts";
import { markConnectionsUsed } from "../connections/check.ts";
import { newId } from "../lib/ids.ts";
import { slugOf } from "../lib/slug.ts";
import { unixSeconds } from "../lib/time.ts";
import type { CodeOrigin } from "../models/code-history.ts";
import { type Source, Sources } from "../models/source.ts";
import type { Calling, Working } from "../platform.ts";
import type { ChangeItem } from "../queues/run-item.ts";
import { isDuplicateKey, transaction } from "../store/connections/mongo.ts";
import { FIRST_REVISION } from "../store/revisions.ts";
import { subscribeNewEmitter } from "../subscriptions/auto.ts";
import { type ChangeDeps, deleteUndeployed, hasHooks, requestChange } from "./change.ts";
import { abandonDeployment } from "./delete-source.ts";
import { prepareSource, type SourceInput } from "./prepare.ts";
import { withRandomSuffix } from "./source.ts";
import { syncSchedulerOrWarn } from "./timer-scheduler.ts";
import { keepFirstVersion, originOf } from "./versions.ts";

type Deps = ChangeDeps & Working & Calling;

/**
 * Deploys a source: checks and saves it, calls its deploy and activate hooks, and makes it visible only after they
 * succeeded (docs/component-api.md#hooks). Throws `invalid` if the input is wrong or a hook fails, and `limit-reached`,
 * `rate-limited` if the quota is used up, and `unavailable` if no worker called the hooks in time; nothing is left of the source in either case.
 */
export async function createSource(
  platform: Deps,
  deployer: Deployer,
  input: SourceInput & { emit_on_deploy?: boolean },
): Promise<Source> {
  await checkCount(platform, deployer.owner, "sources");
  const { fields, component } = await prepareSource(platform, deployer, input);
  const isHooked = hasHooks(component, "deploy", "activate");
  if (isHooked) await checkQuota(platform, deployer.owner);
  const now = unixSeconds(platform.clock());
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
    revision: FIRST_REVISION,
  };
  const origin = originOf(deployer, input);
  await insertSource(platform, source, origin);
  if (isHooked) {
    await callDeployHooks(platform, source, { origin, emit_on_deploy: input.emit_on_deploy ?? true });
  }
  // Who listens to an app's events is cached; a source that a hook made ready, a worker has announced.
  if (source.app_events) await platform.routing.invalidate([source.owner_id]);
  const ready: Source = { ...source, state: "ready" };
  await syncSchedulerOrWarn(platform, ready);
  return ready;
}

async function insertSource(platform: Deps, source: Source, origin: CodeOrigin): Promise<void> {
  try {
    await transaction(platform.mongo, async session => {
      await markComponentUsed(platform, source.component_id, session);
      await markConnectionsUsed(platform, source.connection_ids ?? [], session);
      await Sources(platform.mongo).insertMany([source], { session });
      if (source.state === "ready") {
        await keepFirstVersion(platform, session, source, origin);
        await subscribeNewEmitter(platform, { id: source._id, owner_id: source.owner_id }, session);
      }
    });
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    // Another source took the slug since it was found to be free.
    source.name_slug = withRandomSuffix(slugOf(source.name));
    await insertSource(platform, source, origin);
  }
}

/** Has a worker call the hooks, and deletes the source if they fail. Throws as `requestChange` does. */
async function callDeployHooks(
  platform: Deps,
  source: Source,
  change: Pick<ChangeItem, "origin" | "emit_on_deploy">,
): Promise<void> {
  try {
    await requestChange(platform, source._id, { op: "create", ...change }, source.owner_id);
  } catch (error) {
    const isDeleted = await deleteUndeployed(platform, source, { unlessBegun: true });
    // Hooks were called: its deletion calls `deactivate`.
    if (!isDeleted && (await abandonDeployment(platform, source))) throw error;
    // Nothing to delete: either a hook failed and the worker deleted the source, or the source became ready after all.
    if (!isDeleted && (await Sources(platform.mongo).exists({ _id: source._id }))) return;
    throw error;
  }
}
