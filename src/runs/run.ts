import { subscriberAccess } from "../accounts/access.ts";
import { limitsOf } from "../accounts/limits.ts";
import { loadCode } from "../components/stored-bundle.ts";
import { AppError } from "../lib/errors.ts";
import { type Source, Sources } from "../models/source.ts";
import type { Calling, Working } from "../platform.ts";
import { reply } from "../queues/replies.ts";
import { type TriggerItem, triggerOf } from "../queues/run-item.ts";
import { Snooze } from "../queues/verdicts.ts";
import type { CallError } from "../sandbox/protocol.ts";
import { currentSource, propsOfSource } from "../sources/source.ts";
import { countDrop } from "../store/events/drops.ts";
import { isGone } from "../store/gone.ts";
import { readEmissionBytes } from "../store/limits/waiting-bytes.ts";
import { clearTick } from "../store/runs/admit-tick.ts";
import { traceField } from "../tracing/trace-context.ts";
import { openQuota, outcomeOf, RunBatch } from "./batch.ts";
import { emissionsOf } from "./emissions.ts";
import type { LateRecords } from "./late-records.ts";
import { emptyMemory, hasMemory, type Memory } from "./memory.ts";
import { sendOutbox } from "./outbox.ts";
import { findRuns, readMemory, recordRuns } from "./record.ts";
import { BATCH_MS, type ClaimedRuns, type EndedRun } from "./record-batch.ts";
import { settledRunIds } from "./settle.ts";
import { noteSourceHealth } from "./source-health.ts";

/** What the execution of runs needs of the platform. */
export type RunDeps = Working &
  Calling & {
    /** Absent: every run is recorded before it is acknowledged. */
    late?: LateRecords | undefined;
  };

/** Ids and results for log lines. */
export type LogFields = Record<string, unknown>;

/** The error of runs that must wait because a read after a failover may have missed their source. */
const sourceUncertain = () =>
  new AppError("unavailable", "the source can't be read yet", { retryAfterMs: 1000 });

const INACTIVE = { code: "inactive", message: "the source is not active" };

/** How long runs wait until the backlog of their account's emissions is looked at again. */
const BACKLOG_PAUSE_MS = 1000;

/**
 * Runs a source on the first trigger, and on those after it until `BATCH_MS` have passed, then records the runs
 * together and enqueues what they emitted. Returns log fields for each trigger that is done. If it is repeated after
 * a crash, only the runs that were not recorded are executed. Throws Snooze while too much that the account emitted waits.
 */
export async function runBatch(
  platform: RunDeps,
  sourceId: string,
  claimed: ClaimedRuns,
  signal: AbortSignal,
): Promise<LogFields[]> {
  const { items } = claimed;
  const [source, known] = await Promise.all([
    currentSource(platform, sourceId),
    findKnown(platform, sourceId, claimed),
  ]);
  if (!source && !(await isGone(platform, sourceId))) throw sourceUncertain();
  if (source?.state !== "ready" || !source.active) return await dropAll(platform, sourceId, items);

  const [memory, quota] = await Promise.all([
    readMemoryFor(platform, source),
    openQuota(platform, source.owner_id),
    checkEmissionsBacklog(platform, source),
  ]);
  const lost = await findLost(platform, source, items);
  const batch = new RunBatch(platform, { source, memory, quota, signal, claimed });
  const done: LogFields[] = [];
  const startedAt = performance.now();
  while (done.length < items.length) {
    if (done.length > 0 && performance.now() - startedAt > BATCH_MS) break;
    const [item, ...others] = items.slice(done.length) as [TriggerItem, ...TriggerItem[]];
    try {
      if (item.kind === "timer") await clearTick(platform, sourceId, item.run_id);
      if (known.has(item.run_id)) {
        await reply(platform, item, { type: "ended" });
        done.push({ run_id: item.run_id, trigger: item.kind, outcome: "repeated" });
        continue;
      }
      if (lost.has(item.run_id)) {
        await countDrop(platform, item.carried?.emitter_id ?? sourceId, "listener-absent");
        done.push({ run_id: item.run_id, trigger: item.kind, outcome: "access-lost" });
        continue;
      }
      const ended = await batch.run(runnableTogether(item, others, new Set([...known, ...lost])));
      for (const { run } of ended) known.add(run._id);
      done.push(...ended.map(logFieldsOf));
    } catch (error) {
      // The runs that ended are still recorded; this run is the first of the next batch.
      if (done.length === 0) throw error;
      break;
    }
  }
  await batch.end();
  return done;
}

/**
 * Returns the ids of those runs that were executed before, and sends what they emitted. A request has a run id of its own,
 * so it is looked up only if an earlier holder of the lease left it, or the sweep may have enqueued it again.
 */
async function findKnown(
  platform: RunDeps,
  sourceId: string,
  { claim, items }: ClaimedRuns,
): Promise<Set<string>> {
  const mayBeKnown = ({ kind, kept }: TriggerItem) => claim.isLeftOver || kind !== "http" || kept === true;
  const asked = items.filter(mayBeKnown).map(({ run_id }) => run_id);
  if (asked.length === 0) return new Set();
  // Those that are settled first: a moment later their records are stored.
  const settled = claim.hasSettled ? await settledRunIds(platform, sourceId) : [];
  const earlier = await findRuns(platform, asked);
  for (const record of earlier) await sendOutbox(platform, record);
  return new Set([...settled, ...earlier.map(({ _id }) => _id)]);
}

/**
 * Returns the ids of those runs whose event comes by a subscription whose owner has lost access since it was queued
 * (docs/design.md#guarantee-6).
 */
async function findLost(
  platform: RunDeps,
  { owner_id: listener }: Pick<Source, "owner_id">,
  items: TriggerItem[],
): Promise<Set<string>> {
  const lost = new Set<string>();
  for (const { run_id, carried } of items) {
    if (!carried) continue;
    const access = await subscriberAccess(platform, { ...carried, listener });
    if (!access.canReadEmitter || !access.canUseListener) lost.add(run_id);
  }
  return lost;
}

/** Reads a source's memory, which costs nothing for a component that has none. */
async function readMemoryFor(platform: RunDeps, source: Source): Promise<Memory> {
  const { component } = await loadCode(platform, source.component_id);
  const { props } = propsOfSource(platform, component, source);
  return hasMemory({ ...component.description, props })
    ? await readMemory(platform, source._id)
    : emptyMemory();
}

/** Makes an account's runs wait until its events are on their way; its run queues fill, and its senders get 429. */
async function checkEmissionsBacklog(
  platform: RunDeps,
  { _id, owner_id }: Pick<Source, "_id" | "owner_id">,
): Promise<void> {
  const [{ emissionBytes }, waiting] = await Promise.all([
    limitsOf(platform, owner_id),
    readEmissionBytes(platform, owner_id),
  ]);
  if (waiting < emissionBytes) return;
  throw new Snooze(BACKLOG_PAUSE_MS, { source_id: _id, ended: "emissions-backlog" });
}

/**
 * Returns the items that may start together: those before the next timer run, because `clearTick` must be called
 * when that starts, and before one of `apart`, such as a repeated item.
 */
function runnableTogether(first: TriggerItem, others: TriggerItem[], apart: Set<string>): TriggerItem[] {
  const ids = new Set([...apart, first.run_id]);
  const end = others.findIndex(({ run_id, kind }) => {
    if (kind === "timer" || ids.has(run_id)) return true;
    ids.add(run_id);
    return false;
  });
  return [first, ...(end < 0 ? others : others.slice(0, end))];
}

const logFieldsOf = ({ run }: EndedRun): LogFields => ({
  run_id: run._id,
  trigger: run.kind,
  outcome: run.outcome,
  emitted: run.emitted,
  dropped: run.dropped,
  run_ms: Math.round(run.duration_ms),
  ...traceField(run.trace),
});

async function dropAll(platform: RunDeps, sourceId: string, items: TriggerItem[]): Promise<LogFields[]> {
  for (const { kind, run_id } of items) if (kind === "timer") await clearTick(platform, sourceId, run_id);
  await countDrop(platform, sourceId, "source-inactive", items.length);
  for (const item of items) await reply(platform, item, { type: "ended", error: INACTIVE });
  return items.map(({ run_id, kind }) => ({ run_id, trigger: kind, outcome: "inactive" }));
}

/** Records a run that crashed several workers as failed, so that it is not repeated (docs/design.md#guarantee-8). */
export async function failCrashedRun(
  platform: RunDeps,
  sourceId: string,
  item: TriggerItem,
  crashes: number,
): Promise<LogFields> {
  const error: CallError = {
    code: "Crashed",
    message: `${crashes} workers crashed or failed during this run; it is not repeated`,
    stack: "",
  };
  const [source, earlier] = await Promise.all([
    Sources(platform.mongo).findById(sourceId).lean(),
    findRuns(platform, [item.run_id]),
  ]);
  for (const record of earlier) await sendOutbox(platform, record);
  if (item.kind === "timer") await clearTick(platform, sourceId, item.run_id);
  if (source && earlier.length === 0) {
    const [record] = await recordRuns(platform, [
      {
        _id: item.run_id,
        source_id: sourceId,
        owner_id: source.owner_id,
        kind: triggerOf(item),
        ...(item.trace !== undefined && { trace: item.trace }),
        ...outcomeOf(error),
        duration_ms: 0,
        emitted: 0,
        dropped: {},
        emissions: emissionsOf(
          source,
          { ...item, kind: triggerOf(item) },
          { emits: [], logs: [], error },
          platform,
        ),
      },
    ]);
    if (record) await sendOutbox(platform, record);
    await noteSourceHealth(platform, source, [{ error }]);
  }
  platform.metrics.count("runs_total", { outcome: "crashed" });
  await reply(platform, item, { type: "ended", error });
  return { run_id: item.run_id, trigger: item.kind, outcome: error.code, crashes };
}
