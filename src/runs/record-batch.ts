import { noteRunsUsed } from "../accounts/quota.ts";
import { countRuns } from "../accounts/usage.ts";
import { failpoint } from "../lib/failpoint.ts";
import type { RunRecord } from "../models/run.ts";
import type { Source } from "../models/source.ts";
import type { Observed } from "../platform.ts";
import { reply } from "../queues/replies.ts";
import type { TriggerItem } from "../queues/run-item.ts";
import { type CallError, SANDBOX_LOST } from "../sandbox/protocol.ts";
import { countDrop, type DropReason } from "../store/events/drops.ts";
import type { Claim } from "./lease.ts";
import type { Memory } from "./memory.ts";
import { sendOutbox } from "./outbox.ts";
import { type FinishedRun, recordRuns } from "./record.ts";
import type { RunDeps } from "./run.ts";
import { settleRuns } from "./settle.ts";
import { noteSourceHealth } from "./source-health.ts";

/** Milliseconds after which runs are recorded: quick runs share a write, and none waits noticeably. */
export const BATCH_MS = 50;

export const QUOTA_EXCEEDED: CallError = {
  code: "Quota Exceeded",
  message: "the account's daily quota is used up; the run was not executed",
  stack: "",
};

/** The runs of a batch: the first ones of a claim that are not done. */
export interface ClaimedRuns {
  claim: Claim;
  items: TriggerItem[];
}

/** A run that has ended and is recorded with its batch. */
export interface EndedRun {
  run: FinishedRun;
  item: TriggerItem;
  error: CallError | undefined;
  /** True if the component has sent its own response to the process that waits for this run. */
  hasResponded: boolean;
  /** True for a run that was not executed and gets no record, like others of its minute. */
  isCountedOnly?: boolean;
}

/**
 * Records the runs of one source and sends what they emitted, in order; runs that end within `BATCH_MS` are recorded
 * together. Until a run is recorded or settled, another worker can repeat it.
 */
export class BatchRecorder {
  readonly #platform: RunDeps;
  readonly #source: Source;
  readonly #claim: ClaimedRuns | undefined;
  #waiting: EndedRun[] = [];
  /** The memory after the last run that ended, the part of it that is stored, and that part's version. */
  #latest: Memory;
  #stored: Memory;
  #version: number;
  #timer: NodeJS.Timeout | undefined;
  // One write at a time. After a failed write all later ones fail, because their runs depended on memory that was not
  // stored.
  #writing: Promise<void> = Promise.resolve();

  /** `claim`: where the runs come from; without it each is recorded before it is acknowledged. */
  constructor(platform: RunDeps, source: Source, memory: Memory, claim?: ClaimedRuns) {
    this.#platform = platform;
    this.#source = source;
    this.#claim = claim;
    this.#latest = memory;
    this.#stored = memory;
    this.#version = memory.version;
  }

  /** Adds a run that has ended; `memory` is the source's memory after it. */
  add(ended: EndedRun, memory: Memory): void {
    this.#waiting.push(ended);
    this.#latest = memory;
    this.#timer ??= setTimeout(() => this.end(), BATCH_MS);
  }

  /** Resolves once everything is recorded and sent. Throws as `recordRuns` does, now or for an earlier write. */
  end(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing = this.#writing.then(() => this.#write());
    // The caller of `end` receives the error; a call by the timer must not leave it unhandled.
    this.#writing.catch(() => undefined);
    return this.#writing;
  }

  async #write(): Promise<void> {
    const ended = this.#waiting;
    const memory = this.#latest;
    const isChanged = memory !== this.#stored;
    this.#waiting = [];
    const runs = ended.filter(({ isCountedOnly }) => !isCountedOnly).map(({ run }) => run);
    const settled = isChanged ? null : await this.#settle(ended, runs);
    if (!settled) {
      const toStore = isChanged ? { ...memory, version: this.#version } : undefined;
      const records = await recordRuns(this.#platform, runs, toStore);
      for (const record of records) noteRun(this.#platform, record);
      if (isChanged) this.#version += 1;
      this.#stored = memory;
      failpoint("runs-recorded");
      for (const record of records) await sendOutbox(this.#platform, record);
    }
    await countBatch(this.#platform, this.#source, ended);
    const executed = ended.filter(({ error }) => error !== QUOTA_EXCEEDED);
    await noteSourceHealth(this.#platform, this.#source, executed);
  }

  /** Settles runs, if they may be recorded later; returns false if not. All runs before them in the claim are done. */
  async #settle(ended: EndedRun[], runs: FinishedRun[]): Promise<boolean> {
    const last = ended.at(-1)?.item;
    if (!this.#claim || !last) return false;
    const { claim, items } = this.#claim;
    const left = claim.leftAfter(items.indexOf(last) + 1);
    const records = await settleRuns(this.#platform, claim, runs, left);
    for (const record of records ?? []) noteRun(this.#platform, record);
    return records !== null;
  }
}

/** Counts recorded runs and replies to the processes that wait for them. */
async function countBatch(platform: RunDeps, source: Source, ended: EndedRun[]): Promise<void> {
  const executed = ended.filter(({ error }) => error !== QUOTA_EXCEEDED);
  const dropped = new Map<DropReason, number>();
  for (const { run, error } of ended) {
    const outcome = error === QUOTA_EXCEEDED ? "over-quota" : outcomeLabel(run.outcome);
    platform.metrics.count("runs_total", { outcome });
    for (const [reason, count] of Object.entries(run.dropped)) {
      dropped.set(reason as DropReason, (dropped.get(reason as DropReason) ?? 0) + count);
    }
  }
  const computeMs = executed.reduce((sum, { run }) => sum + Math.ceil(run.duration_ms), 0);
  const withoutResponse = ended.filter(({ hasResponded }) => !hasResponded);
  await Promise.all([
    executed.length > 0 && countExecuted(platform, source.owner_id, executed.length, computeMs),
    ...[...dropped].map(([reason, count]) => countDrop(platform, source._id, reason, count)),
    ...withoutResponse.map(({ item, error }) =>
      reply(platform, item, { type: "ended", ...(error && { error }) }),
    ),
  ]);
}

async function countExecuted(
  platform: RunDeps,
  ownerId: string,
  runs: number,
  computeMs: number,
): Promise<void> {
  noteRunsUsed(platform, ownerId, await countRuns(platform, ownerId, runs, computeMs));
}

/** Returns the outcome as a label of metrics and spans. Components choose the names of their errors, so most become `error`. */
export function outcomeLabel(outcome: string): string {
  return ["ok", "Timeout", "Out of Memory", SANDBOX_LOST].includes(outcome) ? outcome : "error";
}

/** Counts a recorded run for its source and its account, and shows it to live views. A part of an outbox is not a run. */
function noteRun({ activity }: Observed, record: RunRecord): void {
  const { _id, source_id, owner_id, kind, error } = record;
  if (kind === "part") return;
  activity.count([owner_id, source_id], error ? ["runs", "run_errors"] : ["runs"]);
  activity.show(owner_id, "runs", _id, () => {
    const { outbox: _outbox, ...shown } = record;
    return shown;
  });
}
