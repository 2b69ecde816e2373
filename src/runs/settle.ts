import { AppError } from "../lib/errors.ts";
import { failpoint } from "../lib/failpoint.ts";
import { LIMITS } from "../limits/catalogue.ts";
import type { RunRecord } from "../models/run.ts";
import { settledId } from "../store/settled-runs.ts";
import type { Claim } from "./claim.ts";
import type { RunDeps } from "./deps.ts";
import { enqueueEmissions, type Waiting } from "./outbox.ts";
import { type FinishedRun, holdFor, LeaseLost, recordsOf } from "./record.ts";

/** What the JSON of a settled entry holds. */
export interface SettledText {
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
