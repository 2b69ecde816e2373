import type { ClientSession } from "mongoose";
import { markComponentUsed } from "../components/components.ts";
import { markConnectionsUsed } from "../connections/check.ts";
import { AppError } from "../lib/errors.ts";
import { newId } from "../lib/ids.ts";
import { unixSeconds } from "../lib/time.ts";
import type { CodeOrigin } from "../models/code-history.ts";
import type { Component } from "../models/component.ts";
import { type BegunChange, type Source, Sources } from "../models/source.ts";
import type { Awaited, Queued, Stores } from "../platform.ts";
import type { Candidate, ChangeItem } from "../queues/run-item.ts";
import { enqueueRun } from "../queues/runs.ts";
import { isSandboxLost, withFrame } from "../sandbox/protocol.ts";
import { isDuplicateKey } from "../store/connections/mongo.ts";
import { noteDeleted } from "../store/gone.ts";
import { nextRevision } from "../store/revisions.ts";
import { ofAccount } from "../store/runs/run-queue.ts";
import { subscribeNewEmitter } from "../subscriptions/auto.ts";
import { withHookSecret } from "./verify.ts";
import { keepFirstVersion, keepNextVersion } from "./versions.ts";

export type ChangeDeps = Stores & Queued & Awaited;

/** Error codes with which a worker rejects a change by itself; every other code is that of a hook's error. */
export const ChangeRejection = {
  /** The source is not the one that the change was prepared for. */
  stale: "stale",
  /** The request that asked for the change no longer waits for it. */
  expired: "expired",
} as const;

/** How long a change may wait for a worker before it expires; never longer than one of its hooks may take. */
const MAX_QUEUED_MS = 15_000;

/** True if the component has at least one of these hooks: then a worker must apply the change. */
export const hasHooks = (component: Component, ...hooks: Component["description"]["hooks"]): boolean =>
  component.description.hooks.some(hook => hooks.includes(hook));

/**
 * Puts a change into the source's run queue and waits until a worker has applied or rejected it. Returns `stale` if the
 * source is not the one that the change was prepared for. Throws `invalid` with the error of the hook that failed, and
 * `unavailable` if no worker started the change in time; the source is unchanged in both cases.
 */
export async function requestChange(
  platform: ChangeDeps,
  sourceId: string,
  change: { op: "create" | "update" } & Pick<
    ChangeItem,
    "candidate" | "prepared_for" | "origin" | "emit_on_deploy"
  >,
  ownerId: string,
): Promise<"applied" | "stale"> {
  const replies = await platform.replies();
  const runId = newId("run", platform.clock());
  const { hookMs } = platform.config.sandbox;
  const queuedMs = Math.min(MAX_QUEUED_MS, hookMs);
  const firstReply = replies.first(runId, queuedMs + 2 * hookMs);
  const item = {
    kind: "change" as const,
    run_id: runId,
    at_ms: platform.clock(),
    reply_to: replies.address,
    expires_at_ms: platform.clock() + queuedMs,
    ...change,
  };
  await enqueueRun(platform, sourceId, item, ofAccount(ownerId));
  const reply = await firstReply;
  const error = reply?.type === "ended" ? reply.error : undefined;
  if (!reply || error?.code === ChangeRejection.expired) {
    throw new AppError("unavailable", "no worker applied the change in time", { retryAfterMs: 5000 });
  }
  if (error?.code === ChangeRejection.stale) return "stale";
  if (isSandboxLost(error)) {
    throw new AppError("unavailable", "the sandbox of the hook was ended from outside", {
      retryAfterMs: 5000,
    });
  }
  if (error) {
    const doing = change.op === "create" ? "deploying" : "updating";
    const message = withFrame(error.message, error.stack ?? "");
    throw new AppError("invalid", `${doing} the source failed: ${message}`, {
      fields: [{ in: "component", path: "hooks", message: `${error.code}: ${message}` }],
    });
  }
  return "applied";
}

/** What hooks leave of the secret by which requests are verified: null if they ended it, undefined for neither. */
type HookSecret = string | null | undefined;

/** The source is no longer as it was when the change was requested. */
export class ChangeSuperseded extends Error {
  constructor() {
    super("the source was changed by another request");
    this.name = "ChangeSuperseded";
  }
}

/**
 * Makes a deployed source visible, keeps its code as the first version, and creates the subscriptions that its account asked for in
 * advance (docs/rest-api.md#subscriptions). `secret` is what its hooks have set. Throws ChangeSuperseded if the source was deleted.
 */
export async function makeReady(
  platform: Stores,
  source: Source,
  session: ClientSession,
  { origin, secret }: { origin: CodeOrigin | undefined; secret: HookSecret },
): Promise<void> {
  const verify = withHookSecret(platform, source.verify ?? null, secret);
  const { matchedCount } = await Sources(platform.mongo).updateOne(
    { _id: source._id, state: "deploying" },
    { $set: { verify, state: "ready", updated_at: unixSeconds(platform.clock()) } },
    { session },
  );
  if (matchedCount === 0) throw new ChangeSuperseded();
  await keepFirstVersion(platform, session, source, origin);
  await subscribeNewEmitter(platform, { id: source._id, owner_id: source.owner_id }, session);
}

/**
 * Saves a source's new code, props or state. `source` is what the candidate was made from. Throws ChangeSuperseded if
 * the source was changed or deleted since, or if another source has taken the candidate's slug. `switchedOff` notes that the
 * deactivate hook is still to be called; not while another change has begun. `origin` is that of new code.
 */
export async function saveCandidate(
  platform: Stores,
  source: Source,
  candidate: Candidate,
  session: ClientSession,
  { switchedOff, origin }: { switchedOff?: BegunChange | undefined; origin?: CodeOrigin | undefined },
): Promise<void> {
  await markComponentUsed(platform, candidate.component_id, session);
  // Those it has already may have been deleted although they are used.
  const added = candidate.connection_ids?.filter(id => !source.connection_ids?.includes(id));
  await markConnectionsUsed(platform, added ?? [], session);
  const changes = {
    ...candidate,
    timer: candidate.timer as Source["timer"],
    ...(switchedOff && { begun: switchedOff }),
    change_id: newId("ch", platform.clock()),
    updated_at: unixSeconds(platform.clock()),
    // Of `source`, whose `change_id` it must still have.
    ...nextRevision(source, changedFields(platform, source, candidate)),
  };
  try {
    const { matchedCount } = await Sources(platform.mongo).updateOne(
      { _id: source._id, state: "ready", change_id: source.change_id, ...(switchedOff && { begun: null }) },
      { $set: changes },
      { session },
    );
    if (matchedCount === 0) throw new ChangeSuperseded();
  } catch (error) {
    throw isDuplicateKey(error) ? new ChangeSuperseded() : error;
  }
  await keepNextVersion(platform, session, source, { component_id: candidate.component_id, origin });
}

/** Returns the fields of a request in which a candidate differs from the source that it was made from. */
function changedFields({ secrets }: Stores, source: Source, candidate: Candidate): string[] {
  const propsOf = ({ configured_props, dynamic_props }: Candidate | Source) =>
    secrets.open(configured_props) + (dynamic_props ? secrets.open(dynamic_props) : "");
  const verifyOf = ({ verify }: Candidate | Source) => (verify ? secrets.open(verify) : "");
  return [
    ...(["name", "active", "component_id"] as const).filter(name => candidate[name] !== source[name]),
    ...(candidate.verify === undefined || verifyOf(candidate) === verifyOf(source) ? [] : ["verify"]),
    ...(candidate.endpoint === source.endpoint && propsOf(candidate) === propsOf(source)
      ? []
      : ["configured_props"]),
  ];
}

/**
 * Notes, before a hook is called, that a change of a source has begun: from now on the change is finished or undone,
 * whatever becomes of the worker (docs/component-api.md#hooks).
 */
export async function noteBegun(
  platform: Stores,
  { _id, owner_id, endpoint }: Pick<Source, "_id" | "owner_id" | "endpoint">,
  { run_id, candidate }: Pick<ChangeItem, "run_id" | "candidate">,
  stage: BegunChange["stage"],
): Promise<void> {
  const isMoved = candidate?.endpoint != null && candidate.endpoint !== endpoint;
  const begun = { run_id, stage, at_ms: platform.clock(), ...(isMoved && { endpoint: candidate.endpoint }) };
  await Sources(platform.mongo).updateOne({ _id }, { $set: { begun } });
  // What arrives for it from now on gets a response at once: its run waits for the hook.
  await platform.routing.invalidate([owner_id]);
}

/**
 * Has a worker call the deactivate hook of a source that was switched off, once no run of it is executed. If it is lost, the reconciler
 * asks again.
 */
export async function enqueueDeactivation(
  platform: Queued,
  { _id, owner_id, begun }: Pick<Source, "_id" | "owner_id" | "begun">,
): Promise<void> {
  if (begun?.stage !== "switched-off") return;
  const { run_id, at_ms } = begun;
  const item = { kind: "change", v: 2, op: "deactivate", run_id, at_ms } as const;
  await enqueueRun(platform, _id, item, ofAccount(owner_id));
}

/**
 * Deletes a source that never became ready, with what arrived for it since its hooks were called. Returns false if it is no
 * longer being deployed, or if a hook was called and `unlessBegun`.
 */
export async function deleteUndeployed(
  platform: Stores,
  { _id, owner_id }: Pick<Source, "_id" | "owner_id">,
  { unlessBegun = false } = {},
): Promise<boolean> {
  const { deletedCount } = await Sources(platform.mongo).deleteOne({
    _id,
    state: "deploying",
    ...(unlessBegun && { begun: null }),
  });
  if (deletedCount === 0) return false;
  await noteDeleted(platform, _id);
  await platform.routing.invalidate([owner_id]);
  return true;
}

/**
 * Stores the secret with which a source was activated again. Another change that was prepared before is superseded: it has the secret
 * from before.
 */
export async function restoreHookSecret(
  platform: Stores,
  { _id, verify }: Pick<Source, "_id" | "verify">,
  secret: HookSecret,
  session: ClientSession,
): Promise<void> {
  if (typeof secret !== "string") return;
  const restored = {
    verify: withHookSecret(platform, verify, secret),
    change_id: newId("ch", platform.clock()),
  };
  await Sources(platform.mongo).updateOne({ _id }, { $set: restored }, { session });
}

/** Forgets a change that is finished or undone; in the transaction that stores its effects. */
export async function forgetBegun(
  platform: Stores,
  sourceId: string,
  runId: string,
  session: ClientSession,
): Promise<void> {
  await Sources(platform.mongo).updateOne(
    { _id: sourceId, "begun.run_id": runId },
    { $unset: { begun: 1 } },
    { session },
  );
}
