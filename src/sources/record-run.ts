import type { Platform } from "../platform.ts";
import type { EmissionsJob } from "../queues/emissions.ts";
import { isDuplicateKey, transaction } from "../store/mongo.ts";
import type { DedupeMemory } from "./dedupe.ts";
import { type RunRecord, RunRecords, SourceMemories } from "./model.ts";

/** JSON of emissions in one record: below MongoDB's 16 MB a document. What is more goes into further records. */
const PART_BYTES = 8 * 1024 * 1024;

/** What a source remembers, as code sees it. */
export interface Memory {
  db: Record<string, unknown>;
  dedupe: DedupeMemory;
  /** 0: nothing was stored yet. */
  version: number;
}

export interface FinishedRun extends Omit<RunRecord, "outbox" | "finished_at"> {
  emissions: EmissionsJob[];
  /** Absent when the run changed nothing of it. */
  memory?: Memory;
}

/** Another worker finished a run of this source meanwhile: this one's lease was lost, so its result is void. */
export class LeaseLost extends Error {
  constructor(sourceId: string) {
    super(`another worker runs source ${sourceId}`);
    this.name = "LeaseLost";
  }
}

export async function readMemory(platform: Pick<Platform, "mongo">, sourceId: string): Promise<Memory> {
  const stored = await SourceMemories(platform.mongo).findById(sourceId).lean();
  if (!stored) return { db: {}, dedupe: {}, version: 0 };
  return { db: JSON.parse(stored.db), dedupe: JSON.parse(stored.dedupe), version: stored.version };
}

/** All records of one run: the first, and the further parts of a large outbox, in order. */
export function findRun(platform: Pick<Platform, "mongo">, runId: string): Promise<RunRecord[]> {
  return RunRecords(platform.mongo)
    .find({ _id: { $gte: runId, $lt: `${runId}~~` } })
    .sort({ _id: 1 })
    .lean();
}

/**
 * Stores what a run did: what it remembers and its emissions together or not at all, so that an event that dedupe
 * remembers is never lost (docs/decisions/0002). `also` joins the same transaction. Throws LeaseLost.
 */
export async function recordRun(
  platform: Pick<Platform, "mongo" | "clock">,
  run: FinishedRun,
  also?: (session: Parameters<Parameters<typeof transaction>[1]>[0]) => Promise<void>,
): Promise<RunRecord[]> {
  const { emissions, memory, ...facts } = run;
  const records = inParts({ ...facts, finished_at: new Date(platform.clock()) }, emissions);
  const [first] = records;
  try {
    if (first && records.length === 1 && !memory && !also) {
      await RunRecords(platform.mongo).insertOne(first);
      return records;
    }
    await transaction(platform.mongo, async session => {
      if (memory) await writeMemory(platform, run.source_id, memory, session);
      await also?.(session);
      await RunRecords(platform.mongo).insertMany(records, { session });
    });
    return records;
  } catch (error) {
    // The run has its record already: whoever wrote it works on this line.
    if (isDuplicateKey(error)) throw new LeaseLost(run.source_id);
    throw error;
  }
}

async function writeMemory(
  platform: Pick<Platform, "mongo">,
  sourceId: string,
  memory: Memory,
  session: Parameters<Parameters<typeof transaction>[1]>[0],
): Promise<void> {
  const stored = {
    db: JSON.stringify(memory.db),
    dedupe: JSON.stringify(memory.dedupe),
    version: memory.version + 1,
  };
  if (memory.version === 0) {
    const there = await SourceMemories(platform.mongo).exists({ _id: sourceId }).session(session);
    if (there) throw new LeaseLost(sourceId);
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

function inParts(facts: Omit<RunRecord, "outbox">, emissions: EmissionsJob[]): RunRecord[] {
  const parts: string[][] = [];
  let size = Number.POSITIVE_INFINITY;
  for (const emission of emissions) {
    const text = JSON.stringify(emission);
    size += Buffer.byteLength(text);
    if (size > PART_BYTES) {
      parts.push([]);
      size = Buffer.byteLength(text);
    }
    parts.at(-1)?.push(text);
  }
  const [first, ...further] = parts;
  const partId = (n: number) => `${facts._id}~${String(n).padStart(4, "0")}`;
  return [
    { ...facts, ...(first && { outbox: first }) },
    ...further.map((outbox, i) => ({
      ...facts,
      _id: partId(i + 1),
      kind: "part",
      emitted: 0,
      dropped: {},
      outbox,
    })),
  ];
}
