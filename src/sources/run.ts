import { countDrop } from "../events/drops.ts";
import { failpoint } from "../failpoint.ts";
import type { Platform } from "../platform.ts";
import type { CallError, CallResult } from "../sandbox/protocol.ts";
import { planOf } from "../users/service.ts";
import { countRuns, usageToday } from "../users/usage.ts";
import { propValuesForRun } from "./configure.ts";
import { dedupe, inOrder } from "./dedupe.ts";
import { emissionsOf } from "./emissions-of.ts";
import { endpointUrl } from "./endpoint.ts";
import type { TriggeredItem } from "./line-item.ts";
import { type Code, loadCode } from "./load-code.ts";
import { type Source, Sources } from "./model.ts";
import { sendOutbox } from "./outbox.ts";
import { type FinishedRun, findRuns, type Memory, readMemory, recordRuns } from "./record-run.ts";
import { reply } from "./reply.ts";

export type RunPlatform = Pick<
  Platform,
  | "mongo"
  | "redis"
  | "keys"
  | "queues"
  | "eventLog"
  | "runLine"
  | "secrets"
  | "counters"
  | "config"
  | "clock"
  | "log"
  | "sandboxes"
>;

type Fields = Record<string, unknown>;

/**
 * Runs are recorded after this long, so that quick ones share one write and none waits for it noticeably: not for a
 * slow one that comes after it either.
 */
const BATCH_MS = 50;

const QUOTA_EXCEEDED: CallError = {
  code: "Quota Exceeded",
  message: "the account's daily quota is used up; the run was not executed",
  stack: "",
};

const INACTIVE = { code: "inactive", message: "the source is not active" };

/** A run that has ended and is to be recorded with its batch. */
interface Ended {
  run: FinishedRun;
  item: TriggeredItem;
  error: CallError | undefined;
  deduped: number;
}

/**
 * Runs a source on the first of the triggers given, and on those after it as long as the batch is young; then records
 * all of it at once and enqueues what was emitted. Answers the fields of a log line for each trigger that is done.
 * Repeated after a crash, it only finishes what is missing.
 */
export async function runSome(
  platform: RunPlatform,
  sourceId: string,
  items: TriggeredItem[],
  signal: AbortSignal,
): Promise<Fields[]> {
  const [source, memory, earlier] = await Promise.all([
    Sources(platform.mongo).findById(sourceId).lean(),
    readMemory(platform, sourceId),
    findRuns(
      platform,
      items.map(item => item.run_id),
    ),
  ]);
  for (const record of earlier) await sendOutbox(platform, record);
  if (source?.state !== "ready" || !source.active) return await dropAll(platform, sourceId, items);

  const known = new Set(earlier.map(record => record._id));
  const batch = await openBatch(platform, source, memory, signal);
  const outcomes: (Fields | Ended)[] = [];
  const startedAt = performance.now();
  for (const item of items) {
    if (outcomes.length > 0 && performance.now() - startedAt > BATCH_MS) break;
    const about = { run_id: item.run_id, trigger: item.kind };
    if (known.has(item.run_id)) {
      outcomes.push({ ...about, outcome: "repeated" });
      await reply(platform, item, { type: "ended" });
      continue;
    }
    known.add(item.run_id);
    if (item.kind === "timer") await noLongerWaits(platform, sourceId);
    try {
      outcomes.push(await batch.run(item));
    } catch (error) {
      // What ended before it is recorded all the same; this one is then the first of the next batch.
      if (outcomes.length === 0) throw error;
      break;
    }
  }
  await batch.end();
  return outcomes.map(outcome => ("run" in outcome ? fieldsOf(outcome as Ended) : outcome));
}

const fieldsOf = ({ run, deduped }: Ended): Fields => ({
  run_id: run._id,
  trigger: run.kind,
  outcome: run.outcome,
  emitted: run.emitted,
  dropped: deduped,
  run_ms: Math.round(run.duration_ms),
});

/** Runs of one source, one after the other on what the one before remembered, recorded together. */
async function openBatch(platform: RunPlatform, source: Source, memory: Memory, signal: AbortSignal) {
  const allowance = await openAllowance(platform, source.owner_id);
  const openedAt = performance.now();
  let ended: Ended[] = [];
  let executor: Awaited<ReturnType<typeof openExecutor>> | undefined;
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

/** Calls the source's code: loaded, its secrets opened, once for a batch. */
async function openExecutor(platform: RunPlatform, source: Source, signal: AbortSignal) {
  const { component, bundle }: Code = await loadCode(platform, source.component_id);
  const sandboxes = await platform.sandboxes();
  const values = JSON.parse(platform.secrets.open(source.configured_props));
  const props = propValuesForRun(component.description.props, values, {
    endpointUrl: endpointUrl(platform, source.endpoint),
  });
  return {
    strategy: component.description.dedupe,
    async call(item: TriggeredItem, memory: Memory): Promise<CallResult> {
      const result = await sandboxes.call(
        `${source._id}:${bundle.hash}`,
        bundle,
        { call: "run", event: item.event, props, db: memory.db },
        {
          signal,
          owner: source.owner_id,
          onRespond: response => void reply(platform, item, { type: "response", response }),
        },
      );
      signal.throwIfAborted();
      return result;
    },
  };
}

const outcomeOf = (error: CallError | undefined) =>
  error
    ? { outcome: error.code, error: { code: error.code, message: error.message.slice(0, 1024) } }
    : { outcome: "ok" };

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

/** What the account may still run today: its usage is read once for a batch, and counted on in it. */
async function openAllowance(platform: RunPlatform, ownerId: string) {
  const { dailyInvocations, dailyComputeMs } = platform.config.quotas;
  const usage = await usageToday(platform, ownerId);
  let plan: string | undefined;
  return {
    async take(): Promise<boolean> {
      if (usage.invocations >= dailyInvocations || usage.compute >= dailyComputeMs) {
        plan ??= await planOf(platform, ownerId);
        if (plan === "free") return false;
      }
      usage.invocations += 1;
      return true;
    },
    spend(ms: number): void {
      usage.compute += ms;
    },
  };
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

/** From the moment a timer's run begins, the next tick is none too many. */
async function noLongerWaits(platform: RunPlatform, sourceId: string): Promise<void> {
  await platform.redis.del(platform.keys.timerWaiting(sourceId));
}

async function dropAll(platform: RunPlatform, sourceId: string, items: TriggeredItem[]): Promise<Fields[]> {
  if (items.some(({ kind }) => kind === "timer")) await noLongerWaits(platform, sourceId);
  await countDrop(platform, sourceId, "source-inactive", items.length);
  for (const item of items) await reply(platform, item, { type: "ended", error: INACTIVE });
  return items.map(({ run_id, kind }) => ({ run_id, trigger: kind, outcome: "inactive" }));
}

/** Records a run as failed that ended `deaths` workers, so that it ends no more (design.md, guarantee 8). */
export async function giveUpRun(
  platform: RunPlatform,
  sourceId: string,
  item: TriggeredItem,
  deaths: number,
): Promise<Fields> {
  const about = { run_id: item.run_id, trigger: item.kind };
  const error: CallError = {
    code: "Crashed",
    message: `given up: ${deaths} workers ended before this run did`,
    stack: "",
  };
  const [source, earlier] = await Promise.all([
    Sources(platform.mongo).findById(sourceId).lean(),
    findRuns(platform, [item.run_id]),
  ]);
  for (const record of earlier) await sendOutbox(platform, record);
  if (source && earlier.length === 0) {
    const [record] = await recordRuns(platform, [
      {
        _id: item.run_id,
        source_id: sourceId,
        owner_id: source.owner_id,
        kind: item.kind,
        ...outcomeOf(error),
        duration_ms: 0,
        emitted: 0,
        dropped: {},
        emissions: emissionsOf(source, item, { emits: [], logs: [], error }, platform),
      },
    ]);
    if (record) await sendOutbox(platform, record);
  }
  platform.counters.add("runs_total", { outcome: "crashed" });
  await reply(platform, item, { type: "ended", error });
  return { ...about, outcome: error.code, deaths };
}
