import { checkQuota } from "../accounts/check-quota.ts";
import type { Deployer } from "../components/deployer.ts";
import { AppError, notFound } from "../lib/errors.ts";
import { type Component, Components } from "../models/component.ts";
import { type Source, Sources } from "../models/source.ts";
import type { Platform } from "../platform.ts";
import { transaction } from "../store/mongo.ts";
import { ChangeSuperseded, saveCandidate } from "./commit.ts";
import { type PrepareDeps, prepareSource, type SourceInput } from "./prepare.ts";
import { type ChangeDeps, hasHooks, requestChange } from "./request-change.ts";
import { syncSchedulerOrWarn } from "./timer-scheduler.ts";

type Deps = PrepareDeps & ChangeDeps & Pick<Platform, "log">;

/** Each time updates of one source compete, one of them succeeds: enough attempts for 20 updates at once. */
const MAX_ATTEMPTS = 20;

/**
 * Updates a source, and returns it with the names of the secrets that it lost with its component. Fields that the request leaves out stay as they are, except `active`, which becomes true
 * (docs/rest-api.md#sources). Updates that arrive at once are applied one after the other. Throws `invalid` if the
 * input is wrong or a hook fails, `unavailable` if no worker called the hooks in time, and `not-found` if the source
 * has been deleted.
 */
export async function updateSource(
  platform: Deps,
  deployer: Deployer,
  source: Source,
  input: SourceInput,
): Promise<{ source: Source; secretsRemoved: string[] }> {
  let before = source;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const { outcome, secretsRemoved } = await updateIfUnchanged(platform, deployer, before, input);
    const latest = await Sources(platform.mongo).findOne({ _id: source._id, state: "ready" }).lean();
    if (!latest) throw notFound("source");
    if (outcome === "applied") {
      await syncSchedulerOrWarn(platform, latest);
      return { source: latest, secretsRemoved };
    }
    before = latest;
  }
  throw new AppError("conflict", "other requests keep changing this source");
}

/** Updates the source unless it has changed since `source` was read; then returns `stale` and does nothing. */
async function updateIfUnchanged(
  platform: Deps,
  deployer: Deployer,
  source: Source,
  input: SourceInput,
): Promise<{ outcome: "applied" | "stale"; secretsRemoved: string[] }> {
  const ownersDeployer = { ...deployer, owner: source.owner_id };
  const { fields, component, secretsRemoved } = await prepareSource(platform, ownersDeployer, input, source);
  const current = await currentComponent(platform, source);
  if (hasHooks(component, "activate", "deactivate") || hasHooks(current, "deactivate")) {
    await checkQuota(platform, source.owner_id);
    const change = { op: "update", candidate: fields, prepared_for: source.change_id } as const;
    const outcome = await requestChange(platform, source._id, change, source.owner_id);
    return { outcome, secretsRemoved };
  }
  try {
    await transaction(platform.mongo, session => saveCandidate(platform, source, fields, session));
    await platform.routing.invalidate([source.owner_id]);
    return { outcome: "applied", secretsRemoved };
  } catch (error) {
    if (error instanceof ChangeSuperseded) return { outcome: "stale", secretsRemoved };
    throw error;
  }
}

async function currentComponent(platform: Deps, source: Source): Promise<Component> {
  const component = await Components(platform.mongo).findById(source.component_id).lean();
  if (!component) throw new AppError("conflict", "the source's component no longer exists");
  return component;
}
