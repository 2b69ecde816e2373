import { countRuns } from "../accounts/usage.ts";
import { failpoint } from "../lib/failpoint.ts";
import type { Source } from "../models/source.ts";
import type { TriggeredItem } from "../queues/run-item.ts";
import type { CallError } from "../sandbox/protocol.ts";
import { countDrop } from "../store/drops.ts";
import type { RunPlatform } from "./deps.ts";
import { sendOutbox } from "./outbox.ts";
import { type FinishedRun, type Memory, recordRuns } from "./record.ts";
import { reply } from "./reply.ts";

/**
 * Runs are recorded after this long, so that quick ones share one write and none waits for it noticeably: not for a
 * slow one that comes after it either.
 */
export const BATCH_MS = 50;

export const QUOTA_EXCEEDED: CallError = {
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
  /** Whoever waits for this run has the component's own answer already. */
  isAnswered: boolean;
}

/**
 * Records runs of one source and sends what they emitted: those of `BATCH_MS` together, in their order. Until then
 * nothing has happened that another worker could not do again.
 */
export function openBatchRecord(platform: RunPlatform, source: Source, memory: Memory) {
  let waiting: Ended[] = [];
  /** What the last run that ended remembers, and of that what is stored, under which version. */
  let latest = memory;
  let stored = memory;
  let version = memory.version;
  let timer: NodeJS.Timeout | undefined;
  // One at a time. Once it has failed it stays so: what comes later was run on what could not be stored.
  let writing = Promise.resolve();

  async function write(): Promise<void> {
    const some = waiting;
    const remembered = latest;
    const isNew = remembered !== stored;
    waiting = [];
    const runs = some.map(({ run }) => run);
    const records = await recordRuns(platform, runs, isNew ? { ...remembered, version } : undefined);
    if (isNew) version += 1;
    stored = remembered;
    failpoint("runs-recorded");
    for (const record of records) await sendOutbox(platform, record);
    await countBatch(platform, source, some);
  }

  function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    writing = writing.then(write);
    // Told by `end`.
    writing.catch(() => undefined);
    return writing;
  }

  return {
    /** `remembered`: after this run. */
    add(ended: Ended, remembered: Memory): void {
      waiting.push(ended);
      latest = remembered;
      timer ??= setTimeout(flush, BATCH_MS);
    },
    /** Resolves when all is recorded and sent. Throws as `recordRuns` does, then or earlier. */
    end: flush,
  };
}

/** Counts runs that are recorded, and tells those who wait for them. */
async function countBatch(platform: RunPlatform, source: Source, ended: Ended[]): Promise<void> {
  const executed = ended.filter(({ error }) => error !== QUOTA_EXCEEDED);
  for (const { run, error } of ended) {
    const outcome = error === QUOTA_EXCEEDED ? "over-quota" : outcomeLabel(run.outcome);
    platform.counters.add("runs_total", { outcome });
  }
  const deduped = ended.reduce((sum, one) => sum + one.deduped, 0);
  const computeMs = executed.reduce((sum, { run }) => sum + Math.ceil(run.duration_ms), 0);
  const unanswered = ended.filter(({ isAnswered }) => !isAnswered);
  await Promise.all([
    executed.length > 0 && countRuns(platform, source.owner_id, executed.length, computeMs),
    countDrop(platform, source._id, "deduped", deduped),
    countDrop(platform, source._id, "over-quota", ended.length - executed.length),
    ...unanswered.map(({ item, error }) => reply(platform, item, { type: "ended", ...(error && { error }) })),
  ]);
}

/** Error names are the user's; the metric's label is one of a few. */
function outcomeLabel(outcome: string): string {
  return ["ok", "Timeout", "Out of Memory"].includes(outcome) ? outcome : "error";
}
