import type { ClientSession } from "mongoose";
import { emit } from "../events/emit.ts";
import { type Source, Sources } from "../models/source.ts";
import type { ChangeItem } from "../queues/run-item.ts";
import type { CallError } from "../sandbox/protocol.ts";
import { ChangeSuperseded, makeReady, saveCandidate } from "../sources/commit.ts";
import { deleteSourceData } from "../sources/delete-source.ts";
import { countDrop } from "../store/drops.ts";
import { callHook, type HookEffects, newHookEffects } from "./call-hook.ts";
import type { LogFields, RunDeps } from "./deps.ts";
import { emissionsOf } from "./emissions.ts";
import { sendOutbox } from "./outbox.ts";
import { type FinishedRun, findRuns, readMemory, recordRuns } from "./record.ts";
import { reply } from "./reply.ts";

/** What came of a change: committed, or rejected with an error and nothing changed. */
type ChangeResult = { error: CallError | null };

const STALE: ChangeResult = {
  error: { code: "stale", message: "the source was changed by another request", stack: "" },
};
const EXPIRED: ChangeResult = { error: { code: "expired", message: "the change came too late", stack: "" } };

interface ChangeOptions {
  signal: AbortSignal;
  /** True if its hooks crashed several workers: then a deletion goes on without them. */
  hasCrashed: boolean;
}

/**
 * Applies a change of a source in its turn, while no run of the source is executed: calls the hooks and commits, or leaves
 * everything as it was (docs/component-api.md#hooks). Repeated after a crash, the hooks run again.
 */
export async function applyChange(
  platform: RunDeps,
  sourceId: string,
  item: ChangeItem,
  options: ChangeOptions,
): Promise<LogFields> {
  const earlier = await findRuns(platform, [item.run_id]);
  const { error } = earlier.length > 0 ? { error: null } : await apply(platform, sourceId, item, options);
  for (const record of earlier) await sendOutbox(platform, record);
  await reply(platform, item, { type: "ended", ...(error && { error }) });
  return { op: item.op, outcome: error?.code ?? "ok" };
}

async function apply(
  platform: RunDeps,
  sourceId: string,
  item: ChangeItem,
  { signal, hasCrashed }: ChangeOptions,
): Promise<ChangeResult> {
  const source = await Sources(platform.mongo).findById(sourceId).lean();
  if (!source) return item.op === "update" ? STALE : EXPIRED;
  const isExpired = item.expires_at_ms !== undefined && platform.clock() > item.expires_at_ms;
  if (item.op === "delete") return remove(platform, source, item, hasCrashed ? null : signal);
  if (isExpired) return EXPIRED;
  if (item.op === "create") return create(platform, source, item, signal);
  return update(platform, source, item, signal);
}

async function create(
  platform: RunDeps,
  source: Source,
  item: ChangeItem,
  signal: AbortSignal,
): Promise<ChangeResult> {
  if (source.state !== "deploying") return EXPIRED;
  const effects = newHookEffects(await readMemory(platform, source._id));
  const mute = item.emit_on_deploy === false;
  const error =
    (await callHook(platform, source, "deploy", effects, { signal, mute })) ??
    (await callHook(platform, source, "activate", effects, { signal, mute }));
  if (error) {
    await Sources(platform.mongo).deleteOne({ _id: source._id, state: "deploying" });
    return { error };
  }
  const isCommitted = await commit(platform, source, item, effects, session =>
    makeReady(platform, source, session),
  );
  if (isCommitted) return { error: null };
  // The request stopped waiting and deleted the source: what `activate` set up outside must not stay.
  await callHook(platform, source, "deactivate", effects, { signal });
  return EXPIRED;
}

async function update(
  platform: RunDeps,
  source: Source,
  item: ChangeItem,
  signal: AbortSignal,
): Promise<ChangeResult> {
  const { candidate } = item;
  const isCurrent = item.prepared_for === undefined || item.prepared_for === source.change_id;
  if (!candidate || source.state !== "ready" || !isCurrent) return STALE;
  const next = { ...source, ...candidate, timer: candidate.timer as Source["timer"] };
  const effects = newHookEffects(await readMemory(platform, source._id));
  const stopError = source.active
    ? await callHook(platform, source, "deactivate", effects, { signal })
    : null;
  const error = candidate.active ? await callHook(platform, next, "activate", effects, { signal }) : null;
  if (error) {
    const restored = newHookEffects(await readMemory(platform, source._id));
    if (source.active) await callHook(platform, source, "activate", restored, { signal });
    return { error };
  }
  const isCommitted = await commit(
    platform,
    next,
    item,
    effects,
    session => saveCandidate(platform, source, candidate, session),
    stopError,
  );
  return isCommitted ? { error: null } : STALE;
}

const NOT_CALLED: CallError = {
  code: "Crashed",
  message: "the source is deleted without its deactivate hook, which crashed several workers",
  stack: "",
};

/** Without a signal, the hook is not called. */
async function remove(
  platform: RunDeps,
  source: Source,
  item: ChangeItem,
  signal: AbortSignal | null,
): Promise<ChangeResult> {
  const effects = newHookEffects(await readMemory(platform, source._id));
  const error = signal ? await callHook(platform, source, "deactivate", effects, { signal }) : NOT_CALLED;
  const result = { emits: [], logs: [], error: error ?? undefined };
  // Not through the queue: source and subscriptions would be gone before a worker handled the emission.
  for (const emission of emissionsOf(source, causeOf(item), result, platform)) await emit(platform, emission);
  await deleteSourceData(platform, source);
  return { error: null };
}

const causeOf = (item: ChangeItem) => ({
  run_id: item.run_id,
  kind: item.op,
  at_ms: item.at_ms,
  event: {},
});

/** Records what the hooks did, with the change itself in the same transaction. Returns false if it was superseded. */
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
    outcome: "ok",
    duration_ms: effects.durationMs,
    emitted: effects.emits.length,
    dropped: effects.deduped > 0 ? { deduped: effects.deduped } : {},
    emissions: emissionsOf(source, causeOf(item), result, platform),
  };
  const memory = effects.memoryChanged ? effects.memory : undefined;
  try {
    const records = await recordRuns(platform, [run], memory, change);
    for (const record of records) await sendOutbox(platform, record);
    await countDrop(platform, source._id, "deduped", effects.deduped);
    return true;
  } catch (failure) {
    if (failure instanceof ChangeSuperseded) return false;
    throw failure;
  }
}
