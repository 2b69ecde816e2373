import type { ClientSession } from "mongoose";
import { emit } from "../events/emit.ts";
import { AppError } from "../lib/errors.ts";
import { type BegunChange, type Source, Sources } from "../models/source.ts";
import { reply } from "../queues/replies.ts";
import type { ChangeItem } from "../queues/run-item.ts";
import type { CallError } from "../sandbox/protocol.ts";
import {
  ChangeRejection,
  ChangeSuperseded,
  deleteUndeployed,
  forgetBegun,
  makeReady,
  noteBegun,
  saveCandidate,
} from "../sources/change.ts";
import { finishDeletion } from "../sources/delete-source.ts";
import { withHookSecret } from "../sources/verify.ts";
import { countDrop } from "../store/events/drops.ts";
import { inSpan } from "../tracing/in-span.ts";
import { traceField } from "../tracing/trace-context.ts";
import { emissionsOf } from "./emissions.ts";
import {
  callCreateHooks,
  callHook,
  callUpdateHooks,
  type HookEffects,
  newHookEffects,
  type SourceVersion,
} from "./hooks.ts";
import { openVersion } from "./open-version.ts";
import { sendOutbox } from "./outbox.ts";
import { type FinishedRun, findRuns, readMemory, recordRuns } from "./record.ts";
import type { LogFields, RunDeps } from "./run.ts";
import { recordUndone, undoChange } from "./undo-change.ts";

/** The change was committed, or rejected with an error and nothing changed. */
type ChangeResult = { error: CallError | null };

const COMMITTED: ChangeResult = { error: null };
const STALE: ChangeResult = {
  error: { code: ChangeRejection.stale, message: "the source was changed by another request", stack: "" },
};
const EXPIRED: ChangeResult = {
  error: { code: ChangeRejection.expired, message: "the change waited too long for a worker", stack: "" },
};

interface ChangeOptions {
  signal: AbortSignal;
  /** True if its hooks crashed several workers: then a deletion goes on without them. */
  hasCrashed: boolean;
}

/**
 * Applies a change of a source while no run of it is executed: calls the hooks and commits, or leaves everything as
 * it was (docs/component-api.md#hooks). If it is repeated after a crash, the hooks are called again, or undone if it is too late.
 */
export async function applyChange(
  platform: RunDeps,
  sourceId: string,
  item: ChangeItem,
  options: ChangeOptions,
): Promise<LogFields> {
  const span = platform.tracer.enter("run", platform.clock());
  const traced = span ? { ...item, trace: span.context } : item;
  const attributes = {
    "headwater.trigger": item.op,
    "headwater.source_id": sourceId,
    "headwater.run_id": item.run_id,
  };
  return await inSpan(platform, span, attributes, () => applyTraced(platform, sourceId, traced, options));
}

async function applyTraced(
  platform: RunDeps,
  sourceId: string,
  item: ChangeItem,
  options: ChangeOptions,
): Promise<LogFields> {
  // There is a record if a worker committed the change and crashed before it removed the change from the run queue.
  const earlier = await findRuns(platform, [item.run_id]);
  const { error } = earlier.length > 0 ? COMMITTED : await apply(platform, sourceId, item, options);
  for (const record of earlier) await sendOutbox(platform, record);
  if (earlier[0]) await platform.routing.invalidate([earlier[0].owner_id]);
  await reply(platform, item, { type: "ended", ...(error && { error }) });
  return { op: item.op, outcome: error?.code ?? "ok", ...traceField(item.trace) };
}

async function apply(
  platform: RunDeps,
  sourceId: string,
  item: ChangeItem,
  { signal, hasCrashed }: ChangeOptions,
): Promise<ChangeResult> {
  const source = await Sources(platform.mongo).findById(sourceId).lean();
  if (!source) return item.op === "update" ? STALE : EXPIRED;
  if (item.op === "delete") return remove(platform, source, item, hasCrashed ? null : signal);
  if (item.op === "deactivate") return deactivate(platform, source, item, signal);
  const isExpired = item.expires_at_ms !== undefined && platform.clock() > item.expires_at_ms;
  const result = isExpired ? EXPIRED : await createOrUpdate(platform, source, item, signal);
  // Begun by a worker that was killed, or a moment ago, and now too late.
  if (result === EXPIRED || result === STALE) await undoChange(platform, sourceId, item, signal);
  return result;
}

async function createOrUpdate(
  platform: RunDeps,
  source: Source,
  item: ChangeItem,
  signal: AbortSignal,
): Promise<ChangeResult> {
  try {
    return await (item.op === "create" ? create : update)(platform, source, item, signal);
  } catch (error) {
    if (error instanceof AppError && error.code === "not-found") {
      await undoChange(platform, source._id, item, signal);
    }
    throw error;
  }
}

/** Returns a version that notes, before each of its hooks, that the change has begun. */
function notedVersion(
  platform: RunDeps,
  source: Source,
  item: ChangeItem,
  version: SourceVersion,
  stage: BegunChange["stage"],
): SourceVersion {
  // A new version that an earlier worker may have activated stays noted.
  const isActivating = source.begun?.run_id === item.run_id && source.begun.stage === "activating";
  return {
    description: version.description,
    async execute(hook, db) {
      await noteBegun(platform, source, item, isActivating ? "activating" : stage);
      return await version.execute(hook, db);
    },
  };
}

async function create(
  platform: RunDeps,
  source: Source,
  item: ChangeItem,
  signal: AbortSignal,
): Promise<ChangeResult> {
  if (source.state !== "deploying") return EXPIRED;
  const version = await openVersion(platform, source, signal, item.trace);
  const effects = newHookEffects(await readMemory(platform, source._id));
  const failed = await callCreateHooks(notedVersion(platform, source, item, version, "activating"), effects);
  if (item.emit_on_deploy === false) {
    await countDrop(platform, source._id, "deploy-muted", effects.emits.length);
    effects.emits = [];
  }
  if (failed) {
    await deleteUndeployed(platform, source);
    return { error: failed.error };
  }
  const isCommitted = await commit(platform, source, item, effects, session =>
    makeReady(platform, source, session, { origin: item.origin, secret: effects.secret }),
  );
  if (isCommitted) return COMMITTED;
  // The request stopped waiting and deleted the source: whatever `activate` set up elsewhere must be removed.
  await callHook(version, "deactivate", effects);
  return EXPIRED;
}

/** Calls the hook of a source that was switched off; does nothing if that was done, or the source is being deleted. */
async function deactivate(
  platform: RunDeps,
  source: Source,
  item: ChangeItem,
  signal: AbortSignal,
): Promise<ChangeResult> {
  if (source.state !== "ready" || source.begun?.run_id !== item.run_id) return COMMITTED;
  const effects = newHookEffects(await readMemory(platform, source._id));
  const version = await openVersion(platform, source, signal, item.trace);
  const error = await callHook(version, "deactivate", effects);
  await commit(platform, source, item, effects, () => Promise.resolve(), error);
  return COMMITTED;
}

async function update(
  platform: RunDeps,
  source: Source,
  item: ChangeItem,
  signal: AbortSignal,
): Promise<ChangeResult> {
  const { begun } = source;
  if (begun?.stage === "switched-off") {
    // Its own item was lost with Redis; the hook comes first all the same.
    await deactivate(platform, source, { ...item, op: "deactivate", run_id: begun.run_id }, signal);
  }
  const { candidate } = item;
  const isCurrent = item.prepared_for === undefined || item.prepared_for === source.change_id;
  if (!candidate || source.state !== "ready" || !isCurrent) return STALE;
  const next = { ...source, ...candidate, timer: candidate.timer as Source["timer"] };
  const noted = async (version: Source, stage: BegunChange["stage"]) =>
    notedVersion(platform, source, item, await openVersion(platform, version, signal, item.trace), stage);
  const result = await callUpdateHooks(
    source.active ? await noted(source, "deactivating") : null,
    candidate.active ? await noted(next, "activating") : null,
    await readMemory(platform, source._id),
  );
  if (result.error) {
    await recordUndone(platform, source, item, result.restored, result.restoreError);
    return { error: result.error };
  }
  const { verify } = candidate;
  const saved =
    verify === undefined
      ? candidate
      : { ...candidate, verify: withHookSecret(platform, verify, result.effects.secret) };
  const isCommitted = await commit(
    platform,
    next,
    item,
    result.effects,
    session => saveCandidate(platform, source, saved, session, { origin: item.origin }),
    result.deactivateError,
  );
  return isCommitted ? COMMITTED : STALE;
}

const NOT_CALLED: CallError = {
  code: "Crashed",
  message: "the source is deleted without its deactivate hook, which crashed several workers",
  stack: "",
};

/** `signal` cancels the deactivate hook; null if the hook must not be called. */
async function remove(
  platform: RunDeps,
  source: Source,
  item: ChangeItem,
  signal: AbortSignal | null,
): Promise<ChangeResult> {
  // Called again, after a crash or by the reconciler: the hook was called.
  if (source.deactivated_at !== undefined) {
    await finishDeletion(platform, source);
    return COMMITTED;
  }
  // Otherwise the deletion would wait for the reconciler, which sees that something is left to be done.
  await platform.late?.flush();
  const effects = newHookEffects(await readMemory(platform, source._id));
  const error = signal
    ? await callHook(await openVersion(platform, source, signal, item.trace), "deactivate", effects)
    : NOT_CALLED;
  const result = { emits: [], logs: [], error: error ?? undefined };
  // Not through the queue: the source and its subscriptions would be gone before a worker handled the emission.
  for (const emission of emissionsOf(source, causeOf(item), result, platform)) await emit(platform, emission);
  await finishDeletion(platform, source);
  return COMMITTED;
}

const causeOf = (item: ChangeItem) => ({
  run_id: item.run_id,
  kind: item.op,
  at_ms: item.at_ms,
  event: {},
  trace: item.trace,
});

/**
 * Records the effects of the hooks and makes the change itself in one transaction. `error` is the error of a hook
 * that did not prevent the change. Returns false if another change came first.
 */
async function commit(
  platform: RunDeps,
  source: Source,
  item: ChangeItem,
  effects: HookEffects,
  change: (session: ClientSession) => Promise<void>,
  error: CallError | null = null,
): Promise<boolean> {
  const result = { emits: effects.emits, logs: effects.logs, error: error ?? undefined };
  const run: FinishedRun = {
    _id: item.run_id,
    source_id: source._id,
    owner_id: source.owner_id,
    kind: item.op,
    ...(item.trace !== undefined && { trace: item.trace }),
    outcome: "ok",
    duration_ms: effects.durationMs,
    emitted: effects.emits.length,
    dropped: effects.deduped > 0 ? { deduped: effects.deduped } : {},
    emissions: emissionsOf(source, causeOf(item), result, platform),
  };
  const memory = effects.isMemoryChanged ? effects.memory : undefined;
  try {
    const records = await recordRuns(platform, [run], memory, async session => {
      await change(session);
      await forgetBegun(platform, source._id, item.run_id, session);
    });
    await platform.routing.invalidate([source.owner_id]);
    for (const record of records) await sendOutbox(platform, record);
    await countDrop(platform, source._id, "deduped", effects.deduped);
    return true;
  } catch (failure) {
    if (failure instanceof ChangeSuperseded) return false;
    throw failure;
  }
}
