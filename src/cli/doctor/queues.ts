import type { Queue } from "bullmq";
import { unixSeconds } from "../../lib/time.ts";
import { BEGUN, type Source, type SourceState, Sources } from "../../models/source.ts";
import type { Queued, Stores } from "../../platform.ts";
import { openedQueue, whatIsNewer } from "../../queues/define-queue.ts";
import { consumedQueues } from "../../queues/index.ts";
import { runs } from "../../queues/runs.ts";
import { queueOfShard, shardsOf } from "../../queues/shards.ts";
import { StoredJobs } from "../../queues/stored-jobs.ts";
import { isTooLate } from "../../sources/next-due.ts";
import { activeTimer } from "../../sources/timer-scheduler.ts";
import { rowsOf } from "../../store/connections/mongo.ts";
import { duration, type Finding, listed, note, ok, problem } from "./finding.ts";

const MAX_WAIT_MS = 60_000;

/** Checks each queue: paused, without a worker, jobs that wait for long, failed jobs, jobs of a newer release. */
export async function checkQueues(platform: Stores & Queued): Promise<Finding[]> {
  const consumed = new Set(consumedQueues.map(({ name }) => name));
  const found = await Promise.all(
    [...platform.queues].map(([name, queue]) =>
      checkQueue(platform, name, queue, consumed.has(queueOfShard(name))),
    ),
  );
  return found.flat();
}

async function checkQueue(
  { clock }: Stores,
  name: string,
  queue: Queue,
  isConsumed: boolean,
): Promise<Finding[]> {
  const check = `queue ${name}`;
  const [isPaused, workers, oldest, counts] = await Promise.all([
    queue.isPaused(),
    queue.getWorkersCount(),
    oldestWaiting(queue),
    queue.getJobCounts("waiting", "active", "delayed", "failed"),
  ]);
  const found: Finding[] = [];
  if (isPaused) found.push(problem(check, "is paused", "resume it on the board, /admin/queues"));
  if (isConsumed && workers === 0) {
    found.push(
      problem(
        check,
        "no worker is connected",
        `start one: node dist/workers/${queueOfShard(name)}.js (Procfile)`,
      ),
    );
  }
  const waitedMs = oldest === undefined ? 0 : clock() - oldest;
  if (waitedMs > MAX_WAIT_MS) {
    const message = `${counts.waiting} jobs are waiting, the oldest for ${duration(waitedMs)}`;
    const advice = isConsumed ? "start more workers, or look at the log of its worker" : "start your engine";
    found.push((isConsumed ? problem : note)(check, message, advice));
  }
  if ((counts.failed ?? 0) > 0) {
    const message = `${counts.failed} jobs have failed`;
    found.push(
      problem(check, message, "read their errors on the board, /admin/queues; retry or remove them"),
    );
  }
  const newer = await newerJob(name, queue);
  if (newer !== undefined) {
    const message = `jobs are waiting that only a newer release can handle: ${newer}`;
    found.push(problem(check, message, "start the workers of the newer release (docs/upgrading.md)"));
  }
  if (found.length > 0) return found;
  return [ok(check, `${counts.waiting} waiting, ${counts.active} running, ${counts.delayed} delayed`)];
}

/** Jobs looked at, of those that are due first. */
const SAMPLE = 20;

/** Returns what this release does not know of a job that waits for a worker of a newer one; undefined if none does. */
async function newerJob(name: string, queue: Queue): Promise<string | undefined> {
  const declared = consumedQueues.find(one => one.name === queueOfShard(name));
  if (!declared) return undefined;
  const jobs = await queue.getDelayed(0, SAMPLE - 1);
  return jobs.map(job => whatIsNewer(declared, job)).find(newer => newer !== undefined);
}

/** Returns when the job that waits longest was due, in Unix milliseconds. */
async function oldestWaiting(queue: Queue): Promise<number | undefined> {
  const [job] = await queue.getWaiting(0, 0);
  return job && job.timestamp + (job.opts.delay ?? 0);
}

/** The reconciler repairs a timer within a minute, unless it does not run. */
const TIMER_MS = 2 * 60_000;
/** Longer than hooks take, and longer than the reconciler waits. */
const BETWEEN_STATES_MS = 20 * 60_000;
const UNNOTIFIED_MS = 2 * 60_000;

const NO_RECONCILER = "start a runs worker: its reconciler repairs this; if it does not, its log says why";

/** Checks sources that stand still: timers, deployments, deletions, begun changes, runs of which no worker knows. */
export async function checkSources(platform: Stores & Queued): Promise<Finding[]> {
  const stuck = [
    { what: "timers have stopped", ids: await findStoppedTimers(platform) },
    {
      what: "sources have been in deployment for over 20 min",
      ids: await findBetween(platform, "deploying"),
    },
    { what: "sources have been in deletion for over 20 min", ids: await findBetween(platform, "deleting") },
    { what: "sources have a change that began and has not ended", ids: await findBegun(platform) },
    {
      what: "sources have waiting runs, and no worker was notified",
      ids: await findUnnotified(platform),
    },
  ].filter(({ ids }) => ids.length > 0);
  if (stuck.length === 0) return [ok("sources", "none is stuck")];
  return stuck.map(({ what, ids }) =>
    problem("sources", `${ids.length} ${what}: ${listed(ids)}`, NO_RECONCILER),
  );
}

async function findStoppedTimers({ mongo, redis, queues, clock }: Stores & Queued): Promise<string[]> {
  const nowMs = clock();
  const nextMs = new Map<string, number>();
  for (const shard of shardsOf(openedQueue(queues, runs))) {
    for (const [id, ms] of await new StoredJobs(redis, shard).nextTicks()) nextMs.set(id, ms);
  }
  const stopped: string[] = [];
  const ticking = Sources(mongo)
    .find({ active: true, state: "ready", timer: { $type: "object" } })
    .lean<Source[]>();
  for await (const source of rowsOf<Source>(ticking)) {
    const timer = activeTimer(source);
    // The reconciler has had no time to set it.
    if (!timer || source.updated_at * 1000 > nowMs - TIMER_MS) continue;
    const next = nextMs.get(source._id);
    const isRight = next !== undefined && next > nowMs - TIMER_MS && !isTooLate(timer, next, nowMs, TIMER_MS);
    if (!isRight) stopped.push(source._id);
  }
  return stopped;
}

async function findBetween({ mongo, clock }: Stores & Queued, state: SourceState): Promise<string[]> {
  const before = unixSeconds(clock() - BETWEEN_STATES_MS);
  const found = await Sources(mongo)
    .find({ state, updated_at: { $lte: before } }, { _id: 1 })
    .lean();
  return found.map(({ _id }) => _id);
}

async function findBegun({ mongo, clock }: Stores & Queued): Promise<string[]> {
  const before = clock() - BETWEEN_STATES_MS;
  const found = await Sources(mongo)
    .find({ "begun.run_id": { $type: "string" }, "begun.at_ms": { $lte: before } }, { _id: 1 })
    .hint(BEGUN)
    .lean();
  return found.map(({ _id }) => _id);
}

async function findUnnotified({ runQueue, clock }: Stores & Queued): Promise<string[]> {
  const beforeMs = clock() - UNNOTIFIED_MS;
  const found = new Set<string>();
  let cursor: string | null = null;
  do {
    const { listed: sources, next } = await runQueue.findListed(beforeMs, cursor);
    for (const source of sources) if (await runQueue.isStalled(source)) found.add(source);
    cursor = next;
  } while (cursor !== null);
  return [...found];
}
