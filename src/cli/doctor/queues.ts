import type { Queue } from "bullmq";
import type { Platform } from "../../platform.ts";
import { consumedQueues } from "../../queues/index.ts";
import { whatIsNewer } from "../../queues/newer-job.ts";
import { queueOfShard } from "../../queues/shards.ts";
import { duration, type Finding, note, ok, problem } from "./finding.ts";

type Deps = Pick<Platform, "queues" | "clock">;

const MAX_WAIT_MS = 60_000;

/** Checks each queue: paused, without a worker, jobs that wait for long, failed jobs, jobs of a newer release. */
export async function checkQueues(platform: Deps): Promise<Finding[]> {
  const consumed = new Set(consumedQueues.map(({ name }) => name));
  const found = await Promise.all(
    [...platform.queues].map(([name, queue]) =>
      checkQueue(platform, name, queue, consumed.has(queueOfShard(name))),
    ),
  );
  return found.flat();
}

async function checkQueue(
  { clock }: Pick<Deps, "clock">,
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
