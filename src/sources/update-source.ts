import { checkQuota } from "../accounts/quota.ts";
import { findComponentToRun } from "../components/components.ts";
import type { Deployer } from "../components/deployer.ts";
import { AppError, notFound } from "../lib/errors.ts";
import { newId, newToken } from "../lib/ids.ts";
import type { CodeVersion } from "../models/code-history.ts";
import { type Component, Components } from "../models/component.ts";
import { type BegunChange, type Source, Sources } from "../models/source.ts";
import type { Calling, Stores, Working } from "../platform.ts";
import { transaction } from "../store/connections/mongo.ts";
import { isRequiredAsRead, revisionChanged, revisionOf } from "../store/revisions.ts";
import {
  type ChangeDeps,
  ChangeSuperseded,
  enqueueDeactivation,
  hasHooks,
  requestChange,
  saveCandidate,
} from "./change.ts";
import { prepareSource, type SourceInput } from "./prepare.ts";
import { syncSchedulerOrWarn } from "./timer-scheduler.ts";
import { findVersion, originOf } from "./versions.ts";

type Deps = ChangeDeps & Working & Calling;

/** Each time updates of one source compete, one of them succeeds: enough attempts for 20 updates at once. */
const MAX_ATTEMPTS = 20;

/** A source after an update, with the names of the secrets that it lost. */
interface Updated {
  source: Source;
  secretsRemoved: string[];
}

interface Tried extends Pick<Updated, "secretsRemoved"> {
  outcome: "applied" | "stale";
}

/**
 * Updates a source, and returns it with the names of the secrets that it lost with its component. Fields that the request
 * leaves out stay as they are, except `active`, which becomes true (docs/rest-api.md#sources). Updates that arrive at once
 * are applied one after the other. Hooks are called only if code, props or `active` change; switching off waits for none.
 * Throws `invalid` if the input is wrong or a hook fails, `unavailable` if no worker called the hooks in time, and
 * `not-found` if the source has been deleted.
 */
export function updateSource(
  platform: Deps,
  deployer: Deployer,
  source: Source,
  input: SourceInput,
): Promise<Updated> {
  return untilApplied(platform, source, before => updateIfUnchanged(platform, deployer, before, input));
}

/**
 * Gives a source another endpoint, as a change of its props: its hooks learn the new address. The old one ends at once. Throws
 * `conflict` for a source without an endpoint, and as `updateSource`.
 */
export async function rotateSourceEndpoint(
  platform: Deps,
  deployer: Deployer,
  source: Source,
): Promise<Source> {
  const rotated = await untilApplied(platform, source, before => {
    if (before.endpoint === null) throw new AppError("conflict", "the source has no endpoint");
    return updateIfUnchanged(platform, deployer, before, { active: before.active }, { endpoint: newToken() });
  });
  return rotated.source;
}

/**
 * Gives a source the code of one of its versions again, as an update does: its props are those that it has now, but for those in
 * `input`. Throws `not-found` for a version that is not kept, `conflict` if its component is gone or out of the deployer's reach, and
 * as `updateSource`.
 */
export async function restoreVersion(
  platform: Deps,
  deployer: Deployer,
  source: Source,
  number: number,
  input: Pick<SourceInput, "configured_props" | "dynamic_props_id" | "comment">,
): Promise<Updated> {
  const version = await findVersion(platform, source, number);
  const { component_id } = version;
  if (!(await findComponentToRun(platform, component_id, deployer.readable))) {
    const message = `version ${number} can't be restored: its component ${component_id} was deleted, or is not yours to read`;
    throw new AppError("conflict", message);
  }
  return untilApplied(platform, source, before =>
    updateIfUnchanged(
      platform,
      deployer,
      before,
      { ...input, component_id, active: before.active },
      { restored: version },
    ),
  );
}

/**
 * Repeats a change for the source as it is by then, as long as other changes come first. Throws `precondition-failed` then for a
 * request that wants the source as it has read it.
 */
async function untilApplied(
  platform: Deps,
  source: Source,
  change: (before: Source) => Promise<Tried>,
): Promise<Updated> {
  let before = source;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const { outcome, secretsRemoved } = await change(before);
    const latest = await Sources(platform.mongo).findOne({ _id: source._id, state: "ready" }).lean();
    if (!latest) throw notFound("source");
    if (outcome === "applied") {
      await syncSchedulerOrWarn(platform, latest);
      return { source: latest, secretsRemoved };
    }
    if (isRequiredAsRead(source) && revisionOf(latest) !== revisionOf(source)) {
      throw revisionChanged(latest, revisionOf(source));
    }
    before = latest;
  }
  throw new AppError("conflict", "other requests keep changing this source");
}

/**
 * Updates the source unless it has changed since `source` was read; then returns `stale` and does nothing. Another `endpoint` than it
 * has replaces that. `restored` is the version whose component the input names.
 */
async function updateIfUnchanged(
  platform: Deps,
  deployer: Deployer,
  source: Source,
  input: SourceInput,
  { endpoint = source.endpoint, restored }: { endpoint?: string | null; restored?: CodeVersion } = {},
): Promise<Tried> {
  const ownersDeployer = { ...deployer, owner: source.owner_id };
  const isRestored = restored !== undefined;
  const prepared = await prepareSource(platform, ownersDeployer, input, source, { isRestored });
  const origin = originOf(deployer, input, restored);
  const { component, secretsRemoved } = prepared;
  const isRotated = endpoint !== source.endpoint;
  const fields = isRotated ? { ...prepared.fields, endpoint } : prepared.fields;
  const isSameVersion = prepared.isSameVersion && !isRotated;
  const current = await currentComponent(platform, source);
  const isSwitchedOff = isSameVersion && source.active && !fields.active && !source.begun;
  const isAsBefore = isSameVersion && source.active === fields.active;
  const wasOn = source.active || source.begun?.stage === "switched-off";
  const callsHooks =
    (wasOn && hasHooks(current, "deactivate")) ||
    ((wasOn || fields.active) && hasHooks(component, "activate", "deactivate"));
  if (callsHooks && !isAsBefore && !isSwitchedOff) {
    await checkQuota(platform, source.owner_id);
    const change = { op: "update", candidate: fields, prepared_for: source.change_id, origin } as const;
    const outcome = await requestChange(platform, source._id, change, source.owner_id);
    return { outcome, secretsRemoved };
  }
  const begun = isSwitchedOff && callsHooks ? newSwitchOff(platform) : undefined;
  try {
    await transaction(platform.mongo, session =>
      saveCandidate(platform, source, fields, session, { switchedOff: begun, origin }),
    );
    await platform.routing.invalidate([source.owner_id]);
    if (begun) {
      await enqueueDeactivation(platform, { ...source, begun }).catch(error => {
        platform.log.warn({ source_id: source._id, err: error }, "deactivation waits for the reconciler");
      });
    }
    return { outcome: "applied", secretsRemoved };
  } catch (error) {
    if (error instanceof ChangeSuperseded) return { outcome: "stale", secretsRemoved };
    throw error;
  }
}

/** The source is inactive at once; what its hook has to do elsewhere waits for the run in progress. */
const newSwitchOff = ({ clock }: Stores): BegunChange => ({
  run_id: newId("run", clock()),
  stage: "switched-off",
  at_ms: clock(),
});

async function currentComponent(platform: Deps, source: Source): Promise<Component> {
  const component = await Components(platform.mongo).findById(source.component_id).lean();
  if (!component) throw new AppError("conflict", "the source's component no longer exists");
  return component;
}
