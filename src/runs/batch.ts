import { cachedPlanOf } from "../accounts/limits.ts";
import { usageToday } from "../accounts/usage.ts";
import { callErrorOf } from "../connections/look-up.ts";
import type { Source } from "../models/source.ts";
import { reply } from "../queues/replies.ts";
import { type TriggerItem, triggerOf } from "../queues/run-item.ts";
import type { CallError, CallResult, HttpResponse, LogLine } from "../sandbox/protocol.ts";
import { emissionsOf, MAX_LOG_EVENTS, recordedError } from "./emissions.ts";
import { effectsOf, type Memory } from "./memory.ts";
import { type Executor, openExecutor } from "./open-version.ts";
import type { FinishedRun } from "./record.ts";
import {
  BATCH_MS,
  BatchRecorder,
  type ClaimedRuns,
  type EndedRun,
  outcomeLabel,
  QUOTA_EXCEEDED,
} from "./record-batch.ts";
import { splitHeaders } from "./response-headers.ts";
import type { RunDeps } from "./run.ts";
import { idleTickKeptMs } from "./tick.ts";

/** A source past its account's quota has a run record and an `$errors` event this often; other runs are only counted. */
const REPORT_QUOTA_MS = 60_000;

/** Returns the fields `outcome` and `error` of a run record. */
export const outcomeOf = (error: CallError | undefined) =>
  error ? { outcome: error.code, error: recordedError(error) } : { outcome: "ok" };

export interface OpenBatch {
  source: Source;
  memory: Memory;
  /** What the source's account may still run. */
  quota: Quota;
  /** Cancels the runs. */
  signal: AbortSignal;
  claimed?: ClaimedRuns;
}

/**
 * Runs of one source, executed one after another, each with the memory that the last one left, and recorded together.
 */
export class RunBatch {
  readonly #platform: RunDeps;
  readonly #source: Source;
  readonly #signal: AbortSignal;
  readonly #quota: Quota;
  readonly #recorder: BatchRecorder;
  /** Ids of the runs whose component has sent a response. */
  readonly #responded = new Set<string>();
  /** Log lines of ours, by run: which headers of its response are not sent. */
  readonly #headerNotices = new Map<string, LogLine>();
  #executor: Executor | undefined;
  #memory: Memory;

  constructor(platform: RunDeps, { source, memory, quota, signal, claimed }: OpenBatch) {
    this.#platform = platform;
    this.#source = source;
    this.#memory = memory;
    this.#signal = signal;
    this.#quota = quota;
    this.#recorder = new BatchRecorder(platform, source, memory, claimed);
  }

  /**
   * Runs the first item, and the items after it while the batch lasts. Returns the runs that ended, in order, at
   * least one. Throws if not even the first item could be executed.
   */
  async run(items: TriggerItem[]): Promise<EndedRun[]> {
    const ended: EndedRun[] = [];
    const add = (one: EndedRun) => {
      ended.push(one);
      this.#recorder.add(one, this.#memory);
    };
    const { runs, forMs } = await this.#quota.reserve(items.length, BATCH_MS);
    if (runs === 0) {
      const isReported = await this.#isQuotaReported();
      for (const [i, item] of items.entries()) add(this.#rejectOverQuota(item, i > 0 || isReported));
      return ended;
    }
    const executor = await this.#open();
    if ("error" in executor) {
      this.#quota.refund(runs);
      for (const item of items) add(this.#fail(item, executor.error));
      return ended;
    }
    const { settings } = executor;
    let startedAt = this.#platform.clock();
    let failure: { error: unknown } | undefined;
    try {
      const isOpen = await executor.execute(items.slice(0, runs), this.#memory.db, {
        forMs,
        onRespond: (item, response) => {
          this.#responded.add(item.run_id);
          this.#noteDroppedHeaders(item, response);
          // A response that can't be sent is a timeout for the process that waits for it, but not a failure of the run.
          reply(this.#platform, item, { type: "response", response }).catch(() => undefined);
        },
        onResult: (item, result) => {
          if (failure) return;
          try {
            add(this.#finish(item, result, startedAt, settings));
            startedAt = this.#platform.clock();
          } catch (error) {
            failure = { error };
          }
        },
      });
      if (!isOpen) this.#executor = undefined;
      if (failure) throw failure.error;
    } catch (error) {
      // The runs that ended are recorded; the run that could not be executed is the first of the next batch.
      if (ended.length === 0) throw error;
    } finally {
      this.#quota.refund(runs - ended.length);
    }
    return ended;
  }

  /** Records the runs that are not recorded yet, and sends what they emitted. Throws as `recordRuns` does. */
  end(): Promise<void> {
    return this.#recorder.end();
  }

  /** Returns what executes the runs, or why they have no credentials. */
  async #open(): Promise<Executor | { error: CallError }> {
    try {
      this.#executor ??= await openExecutor(this.#platform, this.#source, this.#signal);
      return this.#executor;
    } catch (error) {
      return { error: callErrorOf(error) };
    }
  }

  #finish(
    item: TriggerItem,
    result: CallResult,
    started_at_ms: number,
    settings: Executor["settings"],
  ): EndedRun {
    const { emits, deduped, notice, memory } = effectsOf(settings, this.#memory, result);
    const { error } = result;
    const span = this.#platform.tracer.start("run", item.trace, started_at_ms);
    const cause = { ...item, ...(span && { trace: span.context }), kind: triggerOf(item) };
    const notices = [this.#headerNotices.get(item.run_id), notice && this.#warn(notice)].filter(
      line => !!line,
    );
    const logs = notices.length > 0 ? [...result.logs, ...notices] : result.logs;
    const emissions = emissionsOf(this.#source, cause, { emits, logs, error }, this.#platform);
    span?.end(
      {
        "headwater.trigger": triggerOf(item),
        "headwater.source_id": this.#source._id,
        "headwater.run_id": item.run_id,
        "headwater.emitted": emits.length,
        "headwater.cpu_ms": result.cpuMs,
      },
      this.#platform.clock(),
      error && outcomeLabel(error.code),
    );
    this.#memory = memory;
    this.#quota.spend(result.durationMs);
    const { metrics } = this.#platform;
    metrics.observe("run_duration_seconds", result.durationMs / 1000, { trigger: item.kind });
    metrics.observe("run_delay_seconds", (started_at_ms - item.at_ms) / 1000, { trigger: item.kind });
    const logsDropped = Math.max(0, logs.length - MAX_LOG_EVENTS);
    const isIdleTick = item.kind === "timer" && emissions.length === 0;
    const run: FinishedRun = {
      ...this.#factsOf({ ...item, trace: cause.trace }),
      ...outcomeOf(error),
      ...(isIdleTick && { keptMs: idleTickKeptMs(this.#source.timer, this.#platform.clock()) }),
      started_at_ms,
      duration_ms: result.durationMs,
      cpu_ms: result.cpuMs,
      memory_bytes: result.memoryBytes,
      emitted: emits.length,
      dropped: {
        ...(deduped > 0 && { deduped }),
        ...(logsDropped > 0 && { "log-limit": logsDropped }),
      },
      emissions,
    };
    return { run, item, error, hasResponded: this.#responded.has(item.run_id) };
  }

  /** Returns true if a run of this source was recorded as rejected less than a minute ago; else notes that one is. */
  async #isQuotaReported(): Promise<boolean> {
    const { redis, keys } = this.#platform;
    return (await redis.set(keys.quotaReported(this.#source._id), "1", "PX", REPORT_QUOTA_MS, "NX")) === null;
  }

  #rejectOverQuota(item: TriggerItem, isCountedOnly: boolean): EndedRun {
    return { ...this.#fail(item, QUOTA_EXCEEDED, { "over-quota": 1 }), isCountedOnly };
  }

  /** Ends a run that is not executed. */
  #fail(item: TriggerItem, error: CallError, dropped: FinishedRun["dropped"] = {}): EndedRun {
    const cause = { ...item, kind: triggerOf(item) };
    const emissions = emissionsOf(this.#source, cause, { emits: [], logs: [], error }, this.#platform);
    const run: FinishedRun = {
      ...this.#factsOf(item),
      ...outcomeOf(error),
      duration_ms: 0,
      emitted: 0,
      dropped,
      emissions,
    };
    return { run, item, error, hasResponded: false };
  }

  #noteDroppedHeaders({ run_id }: TriggerItem, { headers }: HttpResponse): void {
    const { ingressUrl } = this.#platform.config;
    const { dropped } = splitHeaders(headers, { cookies: ingressUrl !== undefined });
    if (dropped.length === 0) return;
    const names = dropped.join(", ").slice(0, 1024);
    const message = `respond: headers that a component may not set were left out: ${names}`;
    this.#headerNotices.set(run_id, this.#warn(message));
  }

  #warn(message: string): LogLine {
    return { level: "warn", message, ts: this.#platform.clock() };
  }

  #factsOf(item: TriggerItem) {
    const { run_id, trace } = item;
    const { _id: source_id, owner_id } = this.#source;
    return { _id: run_id, source_id, owner_id, kind: triggerOf(item), ...(trace !== undefined && { trace }) };
  }
}

interface Quota {
  /**
   * Reserves as many of `most` runs as are allowed and returns them with the milliseconds they may compute before the
   * next reservation. Runs that are not executed must be refunded.
   */
  reserve(most: number, forMs: number): Promise<{ runs: number; forMs: number }>;
  refund(runs: number): void;
  /** Counts compute time, in milliseconds. */
  spend(ms: number): void;
}

/** Opens what an account may still run today (docs/design.md#quotas): its usage is read once for a batch of runs. */
export async function openQuota(platform: RunDeps, ownerId: string): Promise<Quota> {
  const { dailyInvocations, dailyComputeMs } = platform.config.quotas;
  const usage = await usageToday(platform, ownerId);
  let isLimited: boolean | undefined;

  return {
    async reserve(most, forMs) {
      const runsLeft = Math.max(0, dailyInvocations - usage.invocations);
      const computeMsLeft = Math.max(0, dailyComputeMs - usage.compute);
      let reserved = { runs: most, forMs };
      if (runsLeft < most || computeMsLeft < forMs) {
        // The plan is read only near the limit, where few free accounts ever are.
        isLimited ??= (await cachedPlanOf(platform, ownerId)) === "free";
        if (isLimited) {
          const runs = computeMsLeft > 0 ? Math.min(most, runsLeft) : 0;
          reserved = { runs, forMs: Math.min(computeMsLeft, forMs) };
        }
      }
      usage.invocations += reserved.runs;
      return reserved;
    },
    refund(runs) {
      usage.invocations -= runs;
    },
    spend(ms) {
      usage.compute += ms;
    },
  };
}
