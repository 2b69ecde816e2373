import type { ClientSession } from "mongoose";
import { Breaks } from "../fairness/thread.ts";
import { LIMITS } from "../limits/catalogue.ts";
import { type RunRecord, RunRecords } from "../models/run.ts";
import { SourceMemories } from "../models/source.ts";
import type { Stores } from "../platform.ts";
import type { Emission } from "../queues/emissions.ts";
import { isDuplicateKey, transaction } from "../store/connections/mongo.ts";
import { holdForEmissions } from "../webhooks/hold-for-emissions.ts";
import { emptyMemory, type Memory } from "./memory.ts";

/** Bytes of emissions in one record, well below MongoDB's 16 MB a document. More emissions go into further records. */
const PART_BYTES = 8 * 1024 * 1024;

/** How long a run is listed. Milliseconds. */
const RUN_KEPT_MS = LIMITS.runKept.value;

export interface FinishedRun
  extends Omit<RunRecord, "outbox" | "outbox_score" | "finished_at" | "expires_at"> {
  emissions: Emission[];
  /** Milliseconds for which its record is kept, if not as long as others. */
  keptMs?: number;
}

/** Another worker has taken over this source since, so the results of this worker must not be stored. */
export class LeaseLost extends Error {
  constructor(sourceId: string) {
    super(`another worker runs source ${sourceId}`);
    this.name = "LeaseLost";
  }
}

export async function readMemory(platform: Stores, sourceId: string): Promise<Memory> {
  const stored = await SourceMemories(platform.mongo).findById(sourceId).lean();
  if (!stored) return emptyMemory();
  return { db: JSON.parse(stored.db), dedupe: JSON.parse(stored.dedupe), version: stored.version };
}

/** Returns the existing records of these runs, including further parts of their outboxes, in order. */
export async function findRuns(platform: Stores, runIds: string[]): Promise<RunRecord[]> {
  const records = await RunRecords(platform.mongo)
    .find({ _id: { $in: runIds } })
    .lean();
  // A record has further parts only as long as it has an outbox itself.
  const parted = records.filter(record => record.outbox);
  const parts = await Promise.all(
    parted.map(({ _id }) =>
      RunRecords(platform.mongo)
        .find({ _id: { $gt: `${_id}~`, $lt: `${_id}~~` } })
        .sort({ _id: 1 })
        .lean(),
    ),
  );
  return [...records, ...parts.flat()];
}

/**
 * Stores the effects of runs of one source: its memory after the last run (`memory`; undefined if unchanged) and all
 * emissions, together or not at all, so that an event that dedupe remembers is never lost
 * (docs/decisions/0002-runs-of-a-source.md). The outbox of all runs is in the record of the first one. `also` joins
 * the same transaction. The emissions' scores are reserved before, in order. Returns the records. Throws LeaseLost.
 */
export async function recordRuns(
  platform: Stores,
  runs: FinishedRun[],
  memory?: Memory,
  also?: (session: ClientSession) => Promise<void>,
): Promise<RunRecord[]> {
  const [first] = runs;
  if (!first) return [];
  const now = platform.clock();
  const facts = recordsOf(runs, now);
  const emissions = runs.flatMap(run => run.emissions);
  // Until they are stored: if this fails, the runs come again and emit under the same ids.
  await holdFor(platform, first.owner_id, emissions);
  const score = emissions.length > 0 ? await platform.eventLog.reserve(first.source_id, emissions.length) : 0;
  const [leader, ...parts] = await divideOutbox(
    // An outbox is kept as long as any, whichever run comes first.
    { ...(facts[0] as RunRecord), ...(emissions.length > 0 && { expires_at: new Date(now + RUN_KEPT_MS) }) },
    emissions,
    score,
  );
  const records = [leader as RunRecord, ...facts.slice(1), ...parts];
  try {
    if (records.length === 1 && !memory && !also) {
      await RunRecords(platform.mongo).insertOne(records[0] as RunRecord);
      return records;
    }
    await transaction(platform.mongo, async session => {
      if (memory) await writeMemory(platform, first.source_id, memory, session);
      await also?.(session);
      await RunRecords(platform.mongo).insertMany(records, { session, lean: true });
    });
    return records;
  } catch (error) {
    // One of the runs has a record already, so another worker has taken over this source.
    if (isDuplicateKey(error)) throw new LeaseLost(first.source_id);
    throw error;
  }
}

/** Returns the records of runs, without what they emitted; `now` is when they are finished, in Unix milliseconds. */
export const recordsOf = (runs: FinishedRun[], now: number): RunRecord[] =>
  runs.map(({ emissions: _, keptMs = RUN_KEPT_MS, ...rest }) => ({
    ...rest,
    finished_at: new Date(now),
    expires_at: new Date(now + keptMs),
  }));

/** Has ordered webhooks wait for these emissions of an account, from before their event ids are given. */
export async function holdFor(platform: Stores, ownerId: string, emissions: Emission[]): Promise<void> {
  const owned = emissions.map(({ emitter_id, emit_id }) => ({ emitter_id, emit_id, ownerId }));
  await holdForEmissions(platform, owned);
}

async function writeMemory(
  platform: Stores,
  sourceId: string,
  memory: Memory,
  session: ClientSession,
): Promise<void> {
  const stored = {
    db: JSON.stringify(memory.db),
    dedupe: JSON.stringify(memory.dedupe),
    version: memory.version + 1,
  };
  if (memory.version === 0) {
    const exists = await SourceMemories(platform.mongo).exists({ _id: sourceId }).session(session);
    if (exists) throw new LeaseLost(sourceId);
    await SourceMemories(platform.mongo).insertMany([{ _id: sourceId, ...stored }], { session });
    return;
  }
  const { matchedCount } = await SourceMemories(platform.mongo).updateOne(
    { _id: sourceId, version: memory.version },
    { $set: stored },
    { session },
  );
  if (matchedCount === 0) throw new LeaseLost(sourceId);
}

/**
 * Returns the record with its outbox, and further records for the parts that do not fit into one document. `score` is that
 * of the first emission.
 */
async function divideOutbox(
  facts: Omit<RunRecord, "outbox">,
  emissions: Emission[],
  score: number,
): Promise<RunRecord[]> {
  const breaks = new Breaks();
  const parts: string[][] = [];
  let size = Number.POSITIVE_INFINITY;
  for (const emission of emissions) {
    await breaks.next();
    const text = JSON.stringify(emission);
    size += Buffer.byteLength(text);
    if (size > PART_BYTES) {
      parts.push([]);
      size = Buffer.byteLength(text);
    }
    parts.at(-1)?.push(text);
  }
  let next = score;
  const outboxes = parts.map(outbox => {
    const outbox_score = next;
    next += outbox.length;
    return { outbox, outbox_score };
  });
  const [first, ...further] = outboxes;
  const partId = (n: number) => `${facts._id}~${String(n).padStart(4, "0")}`;
  return [
    { ...facts, ...first },
    ...further.map((outbox, i) => ({
      ...facts,
      _id: partId(i + 1),
      kind: "part",
      emitted: 0,
      dropped: {},
      ...outbox,
    })),
  ];
}
