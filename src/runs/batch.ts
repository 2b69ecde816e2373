import type { Source } from "../models/source.ts";
import type { TriggeredItem } from "../queues/run-item.ts";
import type { CallError, CallResult } from "../sandbox/protocol.ts";
import { dedupe, inOrder } from "./dedupe.ts";
import type { RunPlatform } from "./deps.ts";
import { emissionsOf } from "./emissions.ts";
import { type Executor, openExecutor } from "./executor.ts";
import { openAllowance } from "./quota.ts";
import type { FinishedRun, Memory } from "./record.ts";
import { BATCH_MS, type Ended, openBatchRecord, QUOTA_EXCEEDED } from "./record-batch.ts";
import { reply } from "./reply.ts";

/** Outcome and error of a record. */
export const outcomeOf = (error: CallError | undefined) =>
  error
    ? { outcome: error.code, error: { code: error.code, message: error.message.slice(0, 1024) } }
    : { outcome: "ok" };

/** Runs of one source, one after the other on what the one before remembered, recorded together. */
export async function openBatch(platform: RunPlatform, source: Source, memory: Memory, signal: AbortSignal) {
  const allowance = await openAllowance(platform, source.owner_id);
  const record = openBatchRecord(platform, source, memory);
  const answered = new Set<string>();
  let executor: Executor | undefined;
  let now = memory;

  const factsOf = ({ run_id, kind }: TriggeredItem) => ({
    _id: run_id,
    source_id: source._id,
    owner_id: source.owner_id,
    kind,
  });

  function refuse(item: TriggeredItem): Ended {
    const error = QUOTA_EXCEEDED;
    const emissions = emissionsOf(source, item, { emits: [], logs: [], error }, platform);
    const dropped = { "over-quota": 1 };
    const run = { ...factsOf(item), ...outcomeOf(error), duration_ms: 0, emitted: 0, dropped, emissions };
    return { run, item, error, deduped: 0, isAnswered: false };
  }

  function take(item: TriggeredItem, result: CallResult, started_at_ms: number): Ended {
    const { strategy } = executor as Executor;
    const { kept, dropped, memory: remembered } = dedupe(strategy, now.dedupe, inOrder(result.emits));
    const given = { emits: kept, logs: result.logs, error: result.error };
    const emissions = emissionsOf(source, item, given, platform);
    now = memoryAfter(now, result.db, remembered, strategy !== undefined) ?? now;
    allowance.spend(result.durationMs);
    const run: FinishedRun = {
      ...factsOf(item),
      ...outcomeOf(result.error),
      started_at_ms,
      duration_ms: result.durationMs,
      cpu_ms: result.cpuMs,
      memory_bytes: result.memoryBytes,
      emitted: kept.length,
      dropped: dropped > 0 ? { deduped: dropped } : {},
      emissions,
    };
    return { run, item, error: result.error, deduped: dropped, isAnswered: answered.has(item.run_id) };
  }

  return {
    /**
     * Runs the first, and of the others as many as go with it: answers those that have ended, in order, at least one.
     * Throws when not even the first could be executed.
     */
    async run(items: TriggeredItem[]): Promise<Ended[]> {
      const ended: Ended[] = [];
      const add = (one: Ended) => {
        ended.push(one);
        record.add(one, now);
      };
      const { runs, forMs } = await allowance.take(items.length, BATCH_MS);
      if (runs === 0) {
        for (const item of items.slice(0, 1)) add(refuse(item));
        return ended;
      }
      executor ??= await openExecutor(platform, source, signal);
      let startedAt = platform.clock();
      let failure: { error: unknown } | undefined;
      try {
        await executor.execute(items.slice(0, runs), now.db, {
          forMs,
          onRespond(item, response) {
            answered.add(item.run_id);
            // One that can't be told is a time-out for who waits, and no failure of the run.
            reply(platform, item, { type: "response", response }).catch(() => undefined);
          },
          onResult(item, result) {
            if (failure) return;
            try {
              add(take(item, result, startedAt));
              startedAt = platform.clock();
            } catch (error) {
              failure = { error };
            }
          },
        });
        if (failure) throw failure.error;
      } catch (error) {
        // What ended before it stands; the one that could not be executed is then the first of the next.
        if (ended.length === 0) throw error;
      } finally {
        allowance.giveBack(runs - ended.length);
      }
      return ended;
    },
    /** Records and sends what is not recorded yet. */
    end: record.end,
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
