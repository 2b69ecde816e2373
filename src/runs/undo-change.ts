import { AppError } from "../lib/errors.ts";
import { derivedId } from "../lib/ids.ts";
import { type Source, Sources } from "../models/source.ts";
import type { ChangeItem } from "../queues/run-item.ts";
import type { CallError } from "../sandbox/protocol.ts";
import { deleteUndeployed, forgetBegun, restoreHookSecret } from "../sources/change.ts";
import type { TraceContext } from "../tracing/trace-context.ts";
import { emissionsOf, recordedError } from "./emissions.ts";
import { callHook, type HookEffects, newHookEffects, type SourceVersion } from "./hooks.ts";
import { openVersion } from "./open-version.ts";
import { sendOutbox } from "./outbox.ts";
import { type FinishedRun, readMemory, recordRuns } from "./record.ts";
import type { RunDeps } from "./run.ts";

/**
 * Undoes a change whose hooks were called but which can't be committed any more: the new version is deactivated if it
 * may be active, and the stored version is activated again. A source that was being created is deleted. Does nothing
 * if no hook of this change was called.
 */
export async function undoChange(
  platform: RunDeps,
  sourceId: string,
  item: ChangeItem,
  signal: AbortSignal,
): Promise<void> {
  const source = await Sources(platform.mongo).findById(sourceId).lean();
  if (source?.begun?.run_id !== item.run_id) return;
  const effects = newHookEffects(await readMemory(platform, sourceId));
  if (item.op === "create") {
    // A source that is being deleted is deactivated by its deletion.
    if (source.state !== "deploying") return;
    await callHook(await openVersion(platform, source, signal, item.trace), "deactivate", effects);
    await deleteUndeployed(platform, source);
    return;
  }
  const { candidate } = item;
  if (source.begun.stage === "activating" && candidate?.active) {
    const next = { ...source, ...candidate, timer: candidate.timer as Source["timer"] };
    const version = await openIfFound(platform, next, signal, item.trace);
    if (version) await callHook(version, "deactivate", newHookEffects(effects.memory));
  }
  const isActive = source.state === "ready" && source.active;
  const error = isActive
    ? await callHook(await openVersion(platform, source, signal, item.trace), "activate", effects)
    : null;
  await recordUndone(platform, source, item, effects, error);
}

/** The component of a change that was never committed may have been deleted. */
async function openIfFound(
  platform: RunDeps,
  source: Source,
  signal: AbortSignal,
  trace: TraceContext | undefined,
): Promise<SourceVersion | null> {
  try {
    return await openVersion(platform, source, signal, trace);
  } catch (error) {
    if (error instanceof AppError && error.code === "not-found") return null;
    throw error;
  }
}

/**
 * Stores what the hooks set and emitted that made a source again what it was before a change, and forgets the change.
 * `error` says why it could not be activated again; it goes to `$errors`.
 */
export async function recordUndone(
  platform: RunDeps,
  source: Source,
  item: ChangeItem,
  effects: HookEffects,
  error: CallError | null,
): Promise<void> {
  // Another id than the change's own: a record of that says that the change was committed.
  const runId = derivedId("run", item.at_ms, source._id, item.run_id, "undo");
  const cause = { run_id: runId, kind: item.op, at_ms: item.at_ms, event: {}, trace: item.trace };
  const result = { emits: effects.emits, logs: effects.logs, error: error ?? undefined };
  const run: FinishedRun = {
    _id: runId,
    source_id: source._id,
    owner_id: source.owner_id,
    kind: item.op,
    ...(item.trace !== undefined && { trace: item.trace }),
    outcome: error?.code ?? "undone",
    ...(error && { error: recordedError(error) }),
    duration_ms: effects.durationMs,
    emitted: effects.emits.length,
    dropped: {},
    emissions: emissionsOf(source, cause, result, platform),
  };
  const memory = effects.isMemoryChanged ? effects.memory : undefined;
  const records = await recordRuns(platform, [run], memory, async session => {
    await restoreHookSecret(platform, source, effects.secret, session);
    await forgetBegun(platform, source._id, item.run_id, session);
  });
  await platform.routing.invalidate([source.owner_id]);
  for (const record of records) await sendOutbox(platform, record);
}

const NOT_RESTORED: CallError = {
  code: "Crashed",
  message:
    "the hooks of a change crashed several workers; the source may be switched off elsewhere: disable and enable it",
  stack: "",
};

/** Forgets a change that can't be undone because its hooks crash workers, and says so on `$errors`. */
export async function giveUpUndoing(platform: RunDeps, sourceId: string, item: ChangeItem): Promise<void> {
  const source = await Sources(platform.mongo).findById(sourceId).lean();
  if (source?.begun?.run_id !== item.run_id) return;
  if (source.state === "deploying") {
    await deleteUndeployed(platform, source);
    return;
  }
  const effects = newHookEffects(await readMemory(platform, sourceId));
  await recordUndone(platform, source, item, effects, NOT_RESTORED);
}
