import type { ClientSession } from "mongoose";
import { emit } from "../events/emit.ts";
import { type Source, Sources } from "../models/source.ts";
import type { ChangeItem } from "../queues/run-item.ts";
import type { CallError } from "../sandbox/protocol.ts";
import { makeReady, removeSource, saveCandidate } from "../sources/commit.ts";
import { countDrop } from "../store/drops.ts";
import { callHook, type HookTrail, newTrail } from "./call-hook.ts";
import type { RunPlatform } from "./deps.ts";
import { emissionsOf } from "./emissions.ts";
import { sendOutbox } from "./outbox.ts";
import { type FinishedRun, findRuns, readMemory, recordRuns } from "./record.ts";
import { reply } from "./reply.ts";

/** What a change came to: committed, or refused with the component's own error and nothing changed. */
type Outcome = { error: CallError | null };

const STALE: Outcome = { error: { code: "stale", message: "the source changed meanwhile", stack: "" } };
const VOID: Outcome = { error: { code: "void", message: "the change came too late", stack: "" } };

/**
 * Applies a change of a source in its place in the line, so that no run of the source is under way: calls the hooks
 * and commits, or leaves all as it was (runtime.md, "hooks"). Repeated after a crash, the hooks run again; `isDeadly`
 * says that they ended the workers before us: then a deletion goes on without them.
 */
export async function applyChange(
  platform: RunPlatform,
  sourceId: string,
  item: ChangeItem,
  { signal, isDeadly }: { signal: AbortSignal; isDeadly: boolean },
): Promise<Record<string, unknown>> {
  const earlier = await findRuns(platform, [item.run_id]);
  const outcome =
    earlier.length > 0 ? { error: null } : await apply(platform, sourceId, item, { signal, isDeadly });
  for (const record of earlier) await sendOutbox(platform, record);
  await reply(platform, item, { type: "ended", ...(outcome.error && { error: outcome.error }) });
  return { op: item.op, outcome: outcome.error?.code ?? "ok" };
}

async function apply(
  platform: RunPlatform,
  sourceId: string,
  item: ChangeItem,
  { signal, isDeadly }: { signal: AbortSignal; isDeadly: boolean },
): Promise<Outcome> {
  const source = await Sources(platform.mongo).findById(sourceId).lean();
  if (!source) return item.op === "update" ? STALE : VOID;
  const isLate = item.expires_at_ms !== undefined && platform.clock() > item.expires_at_ms;
  if (item.op === "delete") return remove(platform, source, item, isDeadly ? null : signal);
  if (isLate) return VOID;
  if (item.op === "create") return create(platform, source, item, signal);
  return update(platform, source, item, signal);
}

async function create(
  platform: RunPlatform,
  source: Source,
  item: ChangeItem,
  signal: AbortSignal,
): Promise<Outcome> {
  if (source.state !== "deploying") return VOID;
  const trail = newTrail(await readMemory(platform, source._id));
  const mute = item.emit_on_deploy === false;
  const error =
    (await callHook(platform, source, "deploy", trail, { signal, mute })) ??
    (await callHook(platform, source, "activate", trail, { signal, mute }));
  if (error) {
    await Sources(platform.mongo).deleteOne({ _id: source._id, state: "deploying" });
    return { error };
  }
  const committed = await commit(platform, source, item, trail, session =>
    makeReady(platform, source, session),
  );
  if (committed) return { error: null };
  // Its creator gave up waiting and took it back: what activate set up outside must not stay.
  await callHook(platform, source, "deactivate", trail, { signal });
  return VOID;
}

async function update(
  platform: RunPlatform,
  source: Source,
  item: ChangeItem,
  signal: AbortSignal,
): Promise<Outcome> {
  const { candidate } = item;
  const isCurrent = item.prepared_for === undefined || item.prepared_for === source.change_id;
  if (!candidate || source.state !== "ready" || !isCurrent) return STALE;
  const next = { ...source, ...candidate, timer: candidate.timer as Source["timer"] };
  const trail = newTrail(await readMemory(platform, source._id));
  const stopError = source.active ? await callHook(platform, source, "deactivate", trail, { signal }) : null;
  const error = candidate.active ? await callHook(platform, next, "activate", trail, { signal }) : null;
  if (error) {
    const back = newTrail(await readMemory(platform, source._id));
    if (source.active) await callHook(platform, source, "activate", back, { signal });
    return { error };
  }
  const committed = await commit(
    platform,
    next,
    item,
    trail,
    session => saveCandidate(platform, source, candidate, session),
    stopError,
  );
  return committed ? { error: null } : STALE;
}

const NOT_CALLED: CallError = {
  code: "Crashed",
  message: "the source is deleted without its deactivate hook, under which several workers died",
  stack: "",
};

/** Without a signal its hook is not called. */
async function remove(
  platform: RunPlatform,
  source: Source,
  item: ChangeItem,
  signal: AbortSignal | null,
): Promise<Outcome> {
  const trail = newTrail(await readMemory(platform, source._id));
  const error = signal ? await callHook(platform, source, "deactivate", trail, { signal }) : NOT_CALLED;
  // Not by the queue: the source and its subscriptions are gone before a worker would come to it.
  for (const emission of emissionsOf(
    source,
    cause(item),
    { emits: [], logs: [], error: error ?? undefined },
    platform,
  )) {
    await emit(platform, emission);
  }
  await removeSource(platform, source);
  return { error: null };
}

const cause = (item: ChangeItem) => ({ run_id: item.run_id, kind: item.op, at_ms: item.at_ms, event: {} });

/** Records what the hooks did, the change itself in the same transaction. False when the change is void. */
async function commit(
  platform: RunPlatform,
  source: Source,
  item: ChangeItem,
  trail: HookTrail,
  change: (session: ClientSession) => Promise<void>,
  error: CallError | null = null,
): Promise<boolean> {
  const result = { emits: trail.emits, logs: trail.logs, error: error ?? undefined };
  try {
    const run: FinishedRun = {
      _id: item.run_id,
      source_id: source._id,
      owner_id: source.owner_id,
      kind: item.op,
      outcome: "ok",
      duration_ms: trail.durationMs,
      emitted: trail.emits.length,
      dropped: trail.deduped > 0 ? { deduped: trail.deduped } : {},
      emissions: emissionsOf(source, cause(item), result, platform),
    };
    const memory = trail.memoryChanged ? trail.memory : undefined;
    const records = await recordRuns(platform, [run], memory, change);
    for (const record of records) await sendOutbox(platform, record);
    await countDrop(platform, source._id, "deduped", trail.deduped);
    return true;
  } catch (failure) {
    if (failure instanceof Error && failure.name === "ChangeVoid") return false;
    throw failure;
  }
}
