import { countDrop } from "../events/drops.ts";
import { failpoint } from "../failpoint.ts";
import type { CallError } from "../sandbox/protocol.ts";
import { countRuns } from "../users/usage.ts";
import { openAllowance } from "./allowance.ts";
import { dedupe, inOrder } from "./dedupe.ts";
import { emissionsOf } from "./emissions-of.ts";
import { type Executor, openExecutor } from "./executor.ts";
import type { TriggeredItem } from "./line-item.ts";
import type { Source } from "./model.ts";
import { sendOutbox } from "./outbox.ts";
import { type FinishedRun, type Memory, recordRuns } from "./record-run.ts";
import { reply } from "./reply.ts";
import type { RunPlatform } from "./run-platform.ts";

/**
 * Runs are recorded after this long, so that quick ones share one write and none waits for it noticeably: not for a
 * slow one that comes after it either.
 */
export const BATCH_MS = 50;

const QUOTA_EXCEEDED: CallError = {
  code: "Quota Exceeded",
  message: "the account's daily quota is used up; the run was not executed",
  stack: "",
};

/** A run that has ended and is to be recorded with its batch. */
export interface Ended {
  run: FinishedRun;
  item: TriggeredItem;
  error: CallError | undefined;
  deduped: number;
}

/** Outcome and error of a record. */
export const outcomeOf = (error: CallError | undefined) =>
  error
    ? { outcome: error.code, error: { code: error.code, message: error.message.slice(0, 1024) } }
    : { outcome: "ok" };

/** Runs of one source, one after the other on what the one before remembered, recorded together. */
export async function openBatch(platform: RunPlatform, source: Source, memory: Memory, signal: AbortSignal) {
  const allowance = await openAllowance(platform, source.owner_id);
  const openedAt = performance.now();
  let ended: Ended[] = [];
  let executor: Executor | undefined;
  /** What the last run that ended remembers, and of that what is stored. */
  let now = memory;
  let stored = memory;

  /** Records and sends. Until then nothing has happened that another worker could not do again. */
  async function end(): Promise<void> {
    const some = ended;
    ended = [];
    const isNew = now !== stored;
    const runs = some.map(({ run }) => run);
    const records = await recordRuns(platform, runs, isNew ? now : undefined);
    if (isNew) now = { ...now, version: now.version + 1 };
    stored = now;
    failpoint("runs-recorded");
    for (const record of records) await sendOutbox(platform, record);
    await countBatch(platform, source, some);
  }

  /** As `work` answers; what had ended before is recorded meanwhile when that takes long. */
  async function recordingMeanwhile<T>(work: () => Promise<T>): Promise<T> {
    if (ended.length === 0) return await work();
    let recorded: Promise<void> | undefined;
    const timer = setTimeout(
      () => {
        recorded = end();
        // Told below, when the work has ended.
        recorded.catch(() => undefined);
      },
      BATCH_MS - (performance.now() - openedAt),
    );
    try {
      return await work();
    } finally {
      clearTimeout(timer);
      await recorded;
    }
  }

  return {
    async run(item: TriggeredItem): Promise<Ended> {
      const { run_id: _id, kind } = item;
      const facts = { _id, source_id: source._id, owner_id: source.owner_id, kind };
      if (!(await allowance.take())) {
        const emissions = emissionsOf(source, item, { emits: [], logs: [], error: QUOTA_EXCEEDED }, platform);
        const run = { ...facts, ...outcomeOf(QUOTA_EXCEEDED), duration_ms: 0, emitted: 0, emissions };
        const refused = {
          run: { ...run, dropped: { "over-quota": 1 } },
          item,
          error: QUOTA_EXCEEDED,
          deduped: 0,
        };
        ended.push(refused);
        return refused;
      }
      executor ??= await openExecutor(platform, source, signal);
      const { call, strategy } = executor;
      const started_at_ms = platform.clock();
      const result = await recordingMeanwhile(() => call(item, now));
      const { kept, dropped, memory: remembered } = dedupe(strategy, now.dedupe, inOrder(result.emits));
      now = memoryAfter(now, result.db, remembered, strategy !== undefined) ?? now;
      allowance.spend(result.durationMs);
      const run: FinishedRun = {
        ...facts,
        ...outcomeOf(result.error),
        started_at_ms,
        duration_ms: result.durationMs,
        cpu_ms: result.cpuMs,
        memory_bytes: result.memoryBytes,
        emitted: kept.length,
        dropped: dropped > 0 ? { deduped: dropped } : {},
        emissions: emissionsOf(
          source,
          item,
          { emits: kept, logs: result.logs, error: result.error },
          platform,
        ),
      };
      const one = { run, item, error: result.error, deduped: dropped };
      ended.push(one);
      return one;
    },
    end,
  };
}

/** What must be stored, or undefined when the run changed nothing of it. */
export function memoryAfter(
  memory: Memory,
  db: Record<string, unknown> | undefined,
  remembered: Memory["dedupe"],
  dedupes: boolean,
): Memory | undefined {
  const dbAfter = db ?? memory.db;
  const dbChanged = db !== undefined && JSON.stringify(db) !== JSON.stringify(memory.db);
  const dedupeChanged = dedupes && JSON.stringify(remembered) !== JSON.stringify(memory.dedupe);
  if (!dbChanged && !dedupeChanged) return undefined;
  return { db: dbAfter, dedupe: dedupes ? remembered : memory.dedupe, version: memory.version };
}

/** Counts a batch that is recorded, and tells those who wait for its runs. */
async function countBatch(platform: RunPlatform, source: Source, ended: Ended[]): Promise<void> {
  const executed = ended.filter(({ error }) => error !== QUOTA_EXCEEDED);
  for (const { run, error } of ended) {
    const outcome = error === QUOTA_EXCEEDED ? "over-quota" : outcomeLabel(run.outcome);
    platform.counters.add("runs_total", { outcome });
  }
  const deduped = ended.reduce((sum, one) => sum + one.deduped, 0);
  const computeMs = executed.reduce((sum, { run }) => sum + Math.ceil(run.duration_ms), 0);
  await Promise.all([
    executed.length > 0 && countRuns(platform, source.owner_id, executed.length, computeMs),
    countDrop(platform, source._id, "deduped", deduped),
    countDrop(platform, source._id, "over-quota", ended.length - executed.length),
    ...ended.map(({ item, error }) => reply(platform, item, { type: "ended", ...(error && { error }) })),
  ]);
}

/** Error names are the user's; the metric's label is one of a few. */
function outcomeLabel(outcome: string): string {
  return ["ok", "Timeout", "Out of Memory"].includes(outcome) ? outcome : "error";
}
