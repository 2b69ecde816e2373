import { Sources } from "../models/source.ts";
import type { TriggeredItem } from "../queues/run-item.ts";
import type { CallError } from "../sandbox/protocol.ts";
import { countDrop } from "../store/drops.ts";
import { openBatch, outcomeOf } from "./batch.ts";
import type { RunPlatform } from "./deps.ts";
import { emissionsOf } from "./emissions.ts";
import { sendOutbox } from "./outbox.ts";
import { findRuns, readMemory, recordRuns } from "./record.ts";
import { BATCH_MS, type Ended } from "./record-batch.ts";
import { reply } from "./reply.ts";

type Fields = Record<string, unknown>;

const INACTIVE = { code: "inactive", message: "the source is not active" };

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
  while (outcomes.length < items.length) {
    if (outcomes.length > 0 && performance.now() - startedAt > BATCH_MS) break;
    const [item, ...others] = items.slice(outcomes.length) as [TriggeredItem, ...TriggeredItem[]];
    try {
      if (known.has(item.run_id)) {
        await reply(platform, item, { type: "ended" });
        outcomes.push({ run_id: item.run_id, trigger: item.kind, outcome: "repeated" });
        continue;
      }
      if (item.kind === "timer") await noLongerWaits(platform, sourceId);
      const ended = await batch.run(together(item, others, known));
      for (const { run } of ended) known.add(run._id);
      outcomes.push(...ended);
    } catch (error) {
      // What ended before it is recorded all the same; this one is then the first of the next batch.
      if (outcomes.length === 0) throw error;
      break;
    }
  }
  await batch.end();
  return outcomes.map(outcome => ("run" in outcome ? fieldsOf(outcome as Ended) : outcome));
}

/** The runs from the first on that may be given away at once: a timer's comes first, for it is told when it begins. */
function together(first: TriggeredItem, others: TriggeredItem[], known: Set<string>): TriggeredItem[] {
  const ids = new Set([...known, first.run_id]);
  const end = others.findIndex(({ run_id, kind }) => {
    if (kind === "timer" || ids.has(run_id)) return true;
    ids.add(run_id);
    return false;
  });
  return [first, ...(end < 0 ? others : others.slice(0, end))];
}

const fieldsOf = ({ run, deduped }: Ended): Fields => ({
  run_id: run._id,
  trigger: run.kind,
  outcome: run.outcome,
  emitted: run.emitted,
  dropped: deduped,
  run_ms: Math.round(run.duration_ms),
});

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
