import { deleteKept, lostAfterMs } from "../accepted/keep.ts";
import { type FairBatch, type OfAccounts, openFairBatches } from "../fairness/batches.ts";
import { groupBy } from "../lib/lists.ts";
import { type Accepted, AcceptedWork } from "../models/accepted.ts";
import { RunRecords } from "../models/run.ts";
import { Sources } from "../models/source.ts";
import type { Queued, Stores } from "../platform.ts";
import { enqueueAll, jobStates } from "../queues/define-queue.ts";
import { emissions, readEmissionsJob } from "../queues/emissions.ts";
import type { TriggerItem } from "../queues/run-item.ts";
import { enqueueRuns } from "../queues/runs.ts";
import { isGone } from "../store/gone.ts";
import { ofAccount } from "../store/runs/run-queue.ts";
import { putOffTo } from "../store/sweeps/put-off.ts";
import { repairEach } from "../store/sweeps/repair-each.ts";
import type { SweepBatch, Swept } from "../store/sweeps/sweep-turns.ts";

/** Without its body, which may be half a megabyte. */
type Due = Omit<Accepted, "body">;

const BATCH = 200;
/** Bodies read at a time. */
const BODIES = 16;

/**
 * Enqueues again what was accepted with `DURABLE_INGRESS=mongodb` and that Redis no longer has although it is not handled:
 * Redis was lost, or a failover lost its last writes, or a process died before it enqueued. It has the same identity as
 * before. Each batch is put off, ever longer with its age, so the index itself says where the next one begins.
 */
export function beginAcceptedSweep(platform: Stores & Queued): SweepBatch {
  const sweep = new AcceptedSweep(platform);
  return () => sweep.next();
}

class AcceptedSweep {
  readonly #platform: Stores & Queued;
  /** Fixed: what becomes due again while the turn lasts belongs to the next turn. */
  readonly #now: Date;
  readonly #nextBatch: () => Promise<FairBatch<Due>>;
  /** Rows deleted by the present batch. */
  #deleted = 0;

  constructor(platform: Stores & Queued) {
    this.#platform = platform;
    this.#now = new Date(platform.clock());
    this.#nextBatch = openFairBatches(BATCH, (which, size) => this.#find(which, size));
  }

  async next(): Promise<Swept> {
    const { items: due, isLast } = await this.#nextBatch();
    if (due.length === 0) return { repaired: 0, next: null };
    this.#deleted = 0;
    const ofRuns = due.filter(({ kind }) => kind === "run");
    const ofEmissions = due.filter(({ kind }) => kind === "emissions");
    const repaired = (await this.#repairRuns(ofRuns)) + (await this.#repairEmissions(ofEmissions));
    const moved = await this.#postpone(due);
    // Without progress the next batch would be this one again.
    return { repaired, next: isLast || moved + this.#deleted === 0 ? null : "more" };
  }

  async #find(which: OfAccounts, size: number): Promise<Due[]> {
    return await AcceptedWork(this.#platform.mongo)
      .find({ check_at: { $lte: this.#now }, ...which }, { body: 0 })
      .sort({ check_at: 1 })
      .limit(size)
      .lean<Due[]>();
  }

  async #repairEmissions(rows: Due[]): Promise<number> {
    const ids = rows.map(({ _id }) => _id);
    const states = await jobStates(this.#platform, emissions, ids);
    // One that is kept as failed was given up and counted.
    await this.#delete(ids.filter((_, i) => states[i] === "finished"));
    return await repairEach(
      this.#platform,
      ids.filter((_, i) => states[i] === "absent"),
      { step: "accepted", idOf: id => id, repair: id => this.#enqueueJob(id) },
    );
  }

  async #enqueueJob(id: string): Promise<boolean> {
    const [row] = await this.#readWhole([id]);
    if (!row) return false;
    // Its bytes were counted in Redis.
    const { counted: _, ...job } = readEmissionsJob(row.body);
    await enqueueAll(this.#platform.queues, emissions.jobs.emissions, [job]);
    await this.#noteEnqueued([id]);
    return true;
  }

  async #repairRuns(rows: Due[]): Promise<number> {
    const bySource = [...groupBy(rows, ({ source_id }) => source_id ?? "")];
    return await repairEach(this.#platform, bySource, {
      step: "accepted",
      idOf: ([sourceId]) => sourceId,
      repair: ([sourceId, ofSource]) => this.#enqueueLost(sourceId, ofSource),
    });
  }

  /** Enqueues those of a source's runs that are lost, in their order. Returns false if there are none. */
  async #enqueueLost(sourceId: string, rows: Due[]): Promise<boolean> {
    const { mongo, runQueue } = this.#platform;
    const source = await Sources(mongo).findById(sourceId, { owner_id: 1 }).lean();
    if (!source) {
      if (await isGone(this.#platform, sourceId)) await this.#delete(rows.map(({ _id }) => _id));
      return false;
    }
    const first = await runQueue.first(sourceId);
    const firstAtMs = first === null ? Number.POSITIVE_INFINITY : (JSON.parse(first) as TriggerItem).at_ms;
    // Runs leave their queue in the order in which they joined it, so that the first one is older than what is in it.
    const before = firstAtMs - lostAfterMs(this.#platform);
    const missing = rows.filter(({ at_ms }) => at_ms < before).map(({ _id }) => _id);
    const records = await RunRecords(mongo)
      .find({ _id: { $in: missing } }, { _id: 1 })
      .lean();
    const done = new Set(records.map(({ _id }) => _id));
    await this.#delete([...done]);
    const lost = missing.filter(id => !done.has(id));
    for (let at = 0; at < lost.length; at += BODIES) {
      const some = await this.#readWhole(lost.slice(at, at + BODIES));
      const items = some.map(({ body }) => JSON.parse(body) as TriggerItem);
      if (items.length > 0) await enqueueRuns(this.#platform, sourceId, items, ofAccount(source.owner_id));
      await this.#noteEnqueued(some.map(({ _id }) => _id));
    }
    return lost.length > 0;
  }

  async #readWhole(ids: string[]): Promise<Accepted[]> {
    return await AcceptedWork(this.#platform.mongo)
      .find({ _id: { $in: ids } })
      .sort({ _id: 1 })
      .lean<Accepted[]>();
  }

  async #noteEnqueued(ids: string[]): Promise<void> {
    const at_ms = this.#platform.clock();
    await AcceptedWork(this.#platform.mongo).updateMany({ _id: { $in: ids } }, { $set: { at_ms } });
  }

  async #delete(ids: string[]): Promise<void> {
    await deleteKept(this.#platform, ids);
    this.#deleted += ids.length;
  }

  /** Returns how many were put off; those that were handled in between are gone. */
  async #postpone(rows: Due[]): Promise<number> {
    const { mongo, config } = this.#platform;
    const nowMs = this.#now.getTime();
    const toMs = putOffTo(nowMs, "$at_ms", config.sweepEveryMs);
    const { modifiedCount } = await AcceptedWork(mongo).updateMany(
      { _id: { $in: rows.map(({ _id }) => _id) }, check_at: { $lte: this.#now } },
      [{ $set: { check_at: { $toDate: toMs }, put_off: { at_ms: nowMs, to_ms: toMs } } }],
      { hint: { _id: 1 }, updatePipeline: true },
    );
    return modifiedCount;
  }
}
