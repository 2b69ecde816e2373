import { deleteKept } from "../accepted/keep.ts";
import { AppError } from "../lib/errors.ts";
import { failpoint } from "../lib/failpoint.ts";
import { groupBy } from "../lib/lists.ts";
import { LIMITS } from "../limits/catalogue.ts";
import { type RunRecord, RunRecords } from "../models/run.ts";
import { insertMissing } from "../store/connections/mongo.ts";
import type { BeforeWrites } from "../store/connections/replicas.ts";
import { forgetSettled } from "../store/runs/settled-runs.ts";
import { enqueueEmissions, isHeld, type Waiting } from "./outbox.ts";

/** How long records wait for company; so many are not kept waiting. */
const LINGER_MS = 150;
const FLUSH_RECORDS = 500;
/** Records in one insert. */
const RECORDS_PER_INSERT = 1000;
/** A store that is away is tried again after this. Milliseconds. */
const RETRY_MS = 1000;

type Deps = Parameters<typeof enqueueEmissions>[0];

/** Runs that were settled in Redis: what this process still has to do for them. */
export interface Settled {
  /** Their entry. */
  id: string;
  sourceId: string;
  records: RunRecord[];
  /** Of their emissions. */
  bytes: number;
  /** Emissions that could not be enqueued yet. */
  unsent: Waiting[];
  /** The moment before its emissions were enqueued; absent if they are not. */
  before?: BeforeWrites;
}

/** Stores the records of settled runs in company of others. What is left when this process dies, the reconciler does. */
export class LateRecords {
  readonly #platform: Deps;
  #waiting: Settled[] = [];
  #records = 0;
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;
  #isClosed = false;
  /** Ids of runs that are done and that MongoDB has among what was accepted. */
  #done = new Set<string>();

  constructor(platform: Deps) {
    this.#platform = platform;
  }

  /** False while so many records wait, as when MongoDB is away, that runs must be recorded before they are acknowledged. */
  hasRoom(): boolean {
    const { lateRecords, lateRecordBytes } = LIMITS;
    return !this.#isClosed && this.#records < lateRecords.value && this.#bytes < lateRecordBytes.value;
  }

  add(settled: Settled): void {
    this.#waiting.push(settled);
    this.#records += settled.records.length;
    this.#bytes += settled.bytes;
    if (this.#records >= FLUSH_RECORDS) void this.#write();
    else this.#later(LINGER_MS);
  }

  /** Has the rows that say that these runs were accepted deleted, once their records are stored. */
  deleteKept(runIds: string[]): void {
    for (const id of runIds) this.#done.add(id);
    this.#later(LINGER_MS);
  }

  /** The runs of an entry that was added and whose records are not stored yet; undefined for any other. */
  runIdsOf(entryId: string): string[] | undefined {
    return this.#waiting.find(({ id }) => id === entryId)?.records.map(({ _id }) => _id);
  }

  /** Resolves once everything that was added is stored, or a store is away. */
  async flush(): Promise<void> {
    await this.#writing;
    for (let before = Number.POSITIVE_INFINITY; this.#waiting.length > 0; ) {
      if (this.#waiting.length >= before) return;
      before = this.#waiting.length;
      await this.#write();
    }
  }

  /** As `flush`; from now on there is no room. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.flush();
    await this.#writeAndDelete();
    clearTimeout(this.#timer);
  }

  #later(ms: number): void {
    this.#timer ??= setTimeout(() => void this.#write(), ms);
  }

  #write(): Promise<void> {
    this.#writing ??= this.#writeAndDelete().finally(() => {
      this.#writing = undefined;
      const isFull = this.#records >= FLUSH_RECORDS;
      if (this.#waiting.length > 0 && !this.#isClosed) this.#later(isFull ? 0 : LINGER_MS);
    });
    return this.#writing;
  }

  async #writeAndDelete(): Promise<void> {
    await this.#writeAll();
    if (this.#done.size === 0) return;
    const waiting = new Set(this.#waiting.flatMap(({ records }) => records.map(({ _id }) => _id)));
    const ids = [...this.#done].filter(id => !waiting.has(id));
    for (const id of ids) this.#done.delete(id);
    // If it fails, the sweep finds that they are done.
    await deleteKept(this.#platform, ids).catch(() => undefined);
  }

  async #writeAll(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const batch: Settled[] = [];
    let count = 0;
    for (const settled of this.#waiting) {
      if (count > 0 && count + settled.records.length > RECORDS_PER_INSERT) break;
      batch.push(settled);
      count += settled.records.length;
    }
    if (batch.length === 0) return;
    try {
      await finishSettled(this.#platform, batch);
    } catch (error) {
      if (error instanceof AppError && error.code === "unavailable") {
        this.#platform.log.warn({ err: error, runs: count }, "records of runs wait for a store");
        if (!this.#isClosed) this.#later(RETRY_MS);
        return;
      }
      await this.#finishAlone(batch);
    }
    this.#waiting.splice(0, batch.length);
    this.#records -= count;
    this.#bytes -= batch.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** One that fails alone is left to the reconciler, which sets it aside; it must not keep the others waiting. */
  async #finishAlone(batch: Settled[]): Promise<void> {
    for (const settled of batch) {
      await finishSettled(this.#platform, [settled]).catch((error: unknown) => {
        const ids = { source_id: settled.sourceId, entry: settled.id };
        this.#platform.log.error({ ...ids, err: error }, "records of runs can't be stored");
      });
    }
  }
}

/** Does what is left to be done for settled runs: enqueues, stores and forgets them. Safe to repeat. Throws `unavailable`. */
export async function finishSettled(platform: Deps, all: Settled[]): Promise<void> {
  for (const settled of all) {
    const [first] = settled.records;
    if (!first || settled.unsent.length === 0) continue;
    settled.before = platform.replicas.begin();
    await enqueueEmissions(platform, first, settled.unsent);
    settled.unsent = [];
  }
  await insertMissing(
    RunRecords(platform.mongo),
    all.flatMap(({ records }) => records),
  );
  failpoint("late-records-stored");
  // The oldest: a connection lost since it was enqueued is lost since the others were, or they can wait for the sweep, too.
  const before = Math.min(...all.map(settled => settled.before ?? platform.replicas.begin()));
  // Otherwise the entries stay, and the sweep enqueues what they hold again.
  if (!(await isHeld(platform, before))) return;
  const forget = ([sourceId, ofOne]: [string, Settled[]]) =>
    forgetSettled(
      platform,
      sourceId,
      ofOne.map(({ id }) => id),
    );
  await Promise.all([...groupBy(all, ({ sourceId }) => sourceId)].map(forget));
}
