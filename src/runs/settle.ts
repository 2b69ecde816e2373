import { AppError } from "../lib/errors.ts";
import { failpoint } from "../lib/failpoint.ts";
import type { Part } from "../lib/part.ts";
import { LIMITS } from "../limits/catalogue.ts";
import type { RunRecord } from "../models/run.ts";
import { listSettled, readSettled, settledId } from "../store/runs/settled-runs.ts";
import { repairEach } from "../store/sweeps/repair-each.ts";
import type { SweepBatch } from "../store/sweeps/sweep-turns.ts";
import { finishSettled } from "./late-records.ts";
import type { Claim } from "./lease.ts";
import { enqueueEmissions, type Waiting } from "./outbox.ts";
import { type FinishedRun, holdFor, LeaseLost, recordsOf } from "./record.ts";
import type { RunDeps } from "./run.ts";

/** What the JSON of a settled entry holds. */
interface SettledText {
  records: RunRecord[];
  /** JSON of each emission. */
  outbox: string[];
}

/**
 * Ends runs that changed no memory: what is left to be done for them is in Redis, where the runs were, from the moment at
 * which they are acknowledged (docs/decisions/0022-runs-without-mongodb.md). Their emissions are enqueued now, their
 * records stored a little later, together with those of others. `left` is how many runs of the claim are left behind them.
 * Returns the records; null, with nothing done, for runs that must be recorded at once. Throws LeaseLost.
 */
export async function settleRuns(
  platform: RunDeps,
  claim: Claim,
  runs: FinishedRun[],
  left: number,
): Promise<RunRecord[] | null> {
  const [first] = runs;
  const { late } = platform;
  if (!first || !late?.hasRoom()) return null;
  const emissions = runs.flatMap(run => run.emissions);
  const outbox = emissions.map(emission => JSON.stringify(emission));
  const bytes = outbox.reduce((sum, text) => sum + text.length, 0);
  if (bytes > LIMITS.settledBytes.value) return null;
  const now = platform.clock();
  const records = recordsOf(runs, now);
  const entry: SettledText = { records, outbox };
  const id = settledId(now, first._id);
  // Until they are settled: if this fails, the runs come again and emit under the same ids.
  await holdFor(platform, first.owner_id, emissions);
  const { acked, score } = await platform.runQueue.settle(first.source_id, claim.token, left, {
    id,
    text: JSON.stringify(entry),
    emissions: outbox.length,
  });
  if (acked === "lost") throw new LeaseLost(first.source_id);
  claim.noteAcked(left, acked);
  failpoint("runs-settled");
  const waiting = outbox.map((text, i): Waiting => {
    return { text, score: score + i, emission: emissions[i] as FinishedRun["emissions"][number] };
  });
  const before = platform.replicas.begin();
  const isSent = await enqueueEmissions(platform, first, waiting).then(
    () => true,
    (error: unknown) => {
      if (error instanceof AppError && error.code === "unavailable") return false;
      throw error;
    },
  );
  failpoint("settled-enqueued");
  late.add({ id, sourceId: first.source_id, records, bytes, unsent: isSent ? [] : waiting, before });
  return records;
}

type Deps = Parameters<typeof finishSettled>[0] & Pick<RunDeps, "runQueue">;

/** Does what is left to be done for runs that were settled `graceMs` ago by a process that died since. */
export function beginSettledSweep(platform: Deps, graceMs: number, part: Part): SweepBatch {
  const beforeMs = platform.clock() - graceMs;
  return async cursor => {
    // Busy sources too: a holder of their lease looks after its own runs only.
    const { listed, next } = await platform.runQueue.findListed(Number.POSITIVE_INFINITY, cursor, part);
    const found = await Promise.all(listed.map(sourceId => listSettled(platform, sourceId)));
    const old = listed.flatMap((sourceId, i) =>
      (found[i] ?? []).filter(({ atMs }) => atMs < beforeMs).map(({ id }) => ({ sourceId, id })),
    );
    const repaired = await repairEach(platform, old, {
      step: "settled",
      idOf: ({ sourceId, id }) => `${sourceId} ${id}`,
      repair: ({ sourceId, id }) => finishOne(platform, sourceId, id),
    });
    return { repaired, next };
  };
}

/** Read one at a time: an entry may be half a megabyte. */
async function finishOne(platform: Deps, sourceId: string, id: string): Promise<boolean> {
  const settled = await readSettledRuns(platform, sourceId, id);
  if (!settled) return false;
  await finishSettled(platform, [settled]);
  return true;
}

/** Returns an entry as the process that settled it had it; null if it is done. */
async function readSettledRuns(platform: Deps, sourceId: string, id: string) {
  const stored = await readSettled(platform, sourceId, id);
  if (!stored) return null;
  const { records, outbox } = JSON.parse(stored.text) as SettledText;
  const dated = records.map(record => ({
    ...record,
    finished_at: new Date(record.finished_at),
    expires_at: new Date(record.expires_at),
  }));
  const unsent = outbox.map((text, i) => ({ text, score: stored.score + i }));
  const before = platform.replicas.begin();
  return { id, sourceId, records: dated, bytes: stored.text.length, unsent, before };
}

/** Returns the ids of a source's runs that are settled and whose records may not be stored yet. */
export async function settledRunIds(platform: RunDeps, sourceId: string): Promise<string[]> {
  const ids: string[] = [];
  for (const { id } of await listSettled(platform, sourceId)) {
    const own = platform.late?.runIdsOf(id);
    ids.push(...(own ?? (await readRunIds(platform, sourceId, id))));
  }
  return ids;
}

async function readRunIds(platform: Deps, sourceId: string, id: string): Promise<string[]> {
  const settled = await readSettledRuns(platform, sourceId, id);
  return (settled?.records ?? []).map(({ _id }) => _id);
}
