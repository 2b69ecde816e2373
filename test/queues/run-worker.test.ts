import { Worker } from "bullmq";
import { expect } from "chai";
import { AppError } from "../../src/lib/errors.ts";
import { newId } from "../../src/lib/ids.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { enqueue, openedQueue } from "../../src/queues/define-queue.ts";
import { deletions } from "../../src/queues/deletions.ts";
import { emissions } from "../../src/queues/emissions.ts";
import type { JobContext } from "../../src/queues/job-kinds.ts";
import { type RunningWorker, runWorker } from "../../src/queues/run-worker.ts";
import { runs } from "../../src/queues/runs.ts";
import { Snooze } from "../../src/queues/verdicts.ts";
import { workerOptions } from "../../workers/start-worker.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { until } from "../support/until.ts";

/** Any queue will do; this queue keeps completed jobs. */
const QUEUE = deletions;

/** Lets the fetch of the next job that follows on a failed or returned one end no sooner than `until`. Returns what undoes that. */
function holdFetchAfterFailure(until: Promise<void>): () => void {
  const fetching = Worker.prototype as unknown as { moveToActive(...args: unknown[]): Promise<unknown> };
  const { moveToActive } = fetching;
  fetching.moveToActive = async function (...args) {
    const isAfterFailure = new Error().stack?.includes("handleFailed");
    const job = await moveToActive.apply(this, args);
    if (isAfterFailure) await until;
    return job;
  };
  return () => {
    fetching.moveToActive = moveToActive;
  };
}

describe("a worker", () => {
  let platform: TestPlatform;
  let worker: RunningWorker | undefined;
  beforeEach(async () => {
    platform = await openTestPlatform({ TIMEOUTS: "stalled:1s" });
  });
  afterEach(async () => {
    await worker?.close(0);
    await platform.destroy();
  });

  const queue = () => openedQueue(platform.queues, QUEUE);
  const startWorker = (
    handle: (context: JobContext<{ emitter_id: string }>) => Promise<undefined>,
    options = workerOptions(platform, QUEUE),
  ) => {
    worker = runWorker(QUEUE, { deletions: handle }, options);
  };

  it("delays a job while a store is away, without using up its attempts", async () => {
    let calls = 0;
    await queue().add(QUEUE.name, { emitter_id: "dc_1" }, { attempts: 1 });
    startWorker(async () => {
      calls += 1;
      if (calls < 3) throw new AppError("unavailable", "the store is away");
      return undefined;
    });
    await until(async () => (await queue().getJobCountByTypes("completed")) === 1);
    expect(calls).to.equal(3);
  });

  it("starts a repeated job with the payload that its handler saved", async () => {
    const seen: string[] = [];
    await queue().add(QUEUE.name, { emitter_id: "dc_1" }, { attempts: 1 });
    startWorker(async ({ job, updateJob }) => {
      seen.push(job.emitter_id);
      if (seen.length > 1) return undefined;
      await updateJob({ ...job, emitter_id: "dc_2" });
      throw new AppError("unavailable", "the store is away");
    });
    await until(async () => (await queue().getJobCountByTypes("completed")) === 1);
    expect(seen).to.deep.equal(["dc_1", "dc_2"]);
  });

  it("handles a job once if it is started again in the process that is handling it", async () => {
    const calls: string[] = [];
    let end = () => {};
    const released = new Promise<undefined>(resolve => {
      end = () => resolve(undefined);
    });
    await enqueue(platform.queues, QUEUE.jobs.deletions, { emitter_id: "dc_1" });
    startWorker(({ job }) => {
      calls.push(job.emitter_id);
      return released;
    });
    const [job] = await until(async () => {
      const active = await queue().getActive();
      return active.length > 0 && active;
    });
    await platform.redis.del(`${queue().toKey(job?.id ?? "")}:lock`);
    await until(async () => ((await queue().getJob(job?.id ?? ""))?.attemptsStarted ?? 0) > 1, {
      what: "the job to be started again",
    });
    // The worker starts it after the one before it: then it has received that one, too.
    await enqueue(platform.queues, QUEUE.jobs.deletions, { emitter_id: "dc_2" });
    await until(() => calls.includes("dc_2"));
    end();
    await until(async () => (await queue().getJobCountByTypes("completed")) === 2);
    expect(calls).to.deep.equal(["dc_1", "dc_2"]);
  });

  it("keeps the lock of a job that comes back and is fetched again before the fetch that follows on it has ended @long", async () => {
    let fetchEnds = () => {};
    const fetched = new Promise<void>(resolve => {
      fetchEnds = resolve;
    });
    const undo = holdFetchAfterFailure(fetched);
    let end = () => {};
    const released = new Promise<undefined>(resolve => {
      end = () => resolve(undefined);
    });
    const starts: string[] = [];
    const handle = async ({ job }: JobContext<{ emitter_id: string }>) => {
      starts.push(job.emitter_id);
      if (starts.length === 1) throw new Snooze(200, {});
      return await released;
    };
    const options = { ...workerOptions(platform, QUEUE), concurrency: 2 };
    startWorker(handle, options);
    await enqueue(platform.queues, QUEUE.jobs.deletions, { emitter_id: "dc_1" });
    await until(() => starts.length === 2, { what: "the second start" });
    fetchEnds();
    undo();
    // It fills the worker, so that only another one would start the first job again.
    await enqueue(platform.queues, QUEUE.jobs.deletions, { emitter_id: "dc_2" });
    await until(() => starts.length === 3, { what: "the start of the second job" });
    const other = runWorker(QUEUE, { deletions: handle }, options);
    const checks = new Set<string | null>();
    await until(async () => checks.add(await platform.redis.get(queue().toKey("stalled-check"))).size > 5, {
      what: "checks for stalled jobs",
    });
    end();
    await until(async () => (await queue().getJobCountByTypes("completed")) === 2);
    await other.close(0);
    expect(starts).to.deep.equal(["dc_1", "dc_1", "dc_2"]);
  });

  it("gives up a job after as many starts without an end as it may have, and reports it", async () => {
    await enqueue(platform.queues, QUEUE.jobs.deletions, { emitter_id: "dc_1" });
    const id = (await queue().getWaiting())[0]?.id ?? "";
    // As after starts whose workers were killed: the next one is the last.
    await platform.redis.hset(queue().toKey(id), "stc", LIMITS.jobStarts.value - 1);
    const givenUp: unknown[] = [];
    let end = () => {};
    const released = new Promise<undefined>(resolve => {
      end = () => resolve(undefined);
    });
    startWorker(() => released, {
      ...workerOptions(platform, QUEUE),
      onGivenUp: async payload => void givenUp.push(payload),
    });
    await until(async () => (await queue().getActive()).length > 0);
    await platform.redis.del(`${queue().toKey(id)}:lock`);
    await until(() => givenUp.length > 0, { what: "the job to be given up" });
    end();
    expect(givenUp).to.deep.equal([{ emitter_id: "dc_1" }]);
    expect(await queue().getJobCountByTypes("failed")).to.equal(1);
  });

  it("keeps of a failed job as many as its queue declares, and of a large one only ids", async () => {
    const failing = openedQueue(platform.queues, emissions);
    const emission = { emitter_id: newId("p"), name: "", event: "x".repeat(LIMITS.failedJobBytes.value) };
    for (const [n, event] of ["small", emission.event].entries()) {
      await enqueue(platform.queues, emissions.jobs.emissions, { ...emission, emit_id: `e${n}`, event });
    }
    worker = runWorker(
      emissions,
      { emissions: () => Promise.reject(new AppError("invalid", "no")) },
      workerOptions(platform, emissions),
    );
    await until(async () => (await failing.getJobCountByTypes("failed")) === 2);
    const kept = async () =>
      (await failing.getFailed())
        .map(({ data }) => data)
        .sort((a, b) => Number("emissions" in a) - Number("emissions" in b));
    await until(async () => "emissions" in ((await kept())[1] ?? {}), {
      what: "the large one without its event",
    });
    const { emitter_id } = emission;
    expect(await kept()).to.deep.equal([
      { emitter_id, emit_id: "e0", name: "", event: "small" },
      { emissions: [{ emitter_id, emit_id: "e1", name: "" }] },
    ]);
    const opts = (await failing.getFailed())[0]?.opts;
    expect(opts?.removeOnFail).to.deep.equal({ age: 7 * 86_400, count: LIMITS.failedJobs.value });
  });

  it("signals to handlers that it is stopping, and returns a job that does not end in time", async () => {
    await enqueue(platform.queues, QUEUE.jobs.deletions, { emitter_id: "dc_1" });
    let context: JobContext<{ emitter_id: string }> | undefined;
    startWorker(async current => {
      context = current;
      await new Promise(resolve => current.signal.addEventListener("abort", resolve));
      throw new AppError("unavailable", "stopped");
    });
    await until(() => context);
    expect(context?.isStopping()).to.equal(false);
    const closing = worker?.close(100);
    expect(context?.isStopping()).to.equal(true);
    await closing;
    expect(await queue().getJobCountByTypes("delayed", "waiting")).to.equal(1);
  });

  it("leaves a job of a newer release to the workers of that one, and says so on the board, in log and metric", async () => {
    const { deletions: job } = QUEUE.jobs;
    await enqueue(platform.queues, { ...job, writes: 2 }, { emitter_id: "dc_2" });
    await enqueue(platform.queues, job, { emitter_id: "dc_1" });
    const seen: string[] = [];
    const handle = async ({ job: { emitter_id } }: JobContext<{ emitter_id: string }>) => {
      seen.push(emitter_id);
      return undefined;
    };
    startWorker(handle);
    await until(async () => (await queue().getJobCountByTypes("completed")) === 1);
    const [waiting] = await until(async () => {
      const delayed = await queue().getDelayed();
      // It was started again, and has used up no attempt.
      return (delayed[0]?.attemptsStarted ?? 0) > 1 && delayed;
    });
    expect(seen).to.deep.equal(["dc_1"]);
    expect(waiting?.attemptsMade).to.equal(0);
    const { logs } = await queue().getJobLogs(waiting?.id ?? "");
    expect(logs).to.deep.equal([
      "waits for a worker of a newer release: version 2 of deletions is newer than 1",
    ]);
    expect((await platform.metrics.expose()).body).to.match(
      /headwater_jobs_total\{[^}]*queue="deletions"[^}]*outcome="newer"[^}]*\} \d/,
    );
    await worker?.close(1000);

    const newer: typeof QUEUE = { ...QUEUE, jobs: { deletions: { ...job, reads: 2 } } };
    worker = runWorker(newer, { deletions: handle }, workerOptions(platform, QUEUE));
    await until(() => seen.length === 2);
    expect(seen).to.deep.equal(["dc_1", "dc_2"]);
    await until(async () => (await queue().getJobCountByTypes("completed")) === 2);
    expect(await queue().getJobCountByTypes("failed")).to.equal(0);
  });

  it("leaves a job of a kind that it does not know to a newer release, whatever else waits", async () => {
    const several = openedQueue(platform.queues, runs);
    await several.add("pulse", { source_id: "dc_1" }, { attempts: 1 });
    worker = runWorker(
      runs,
      { notify: async () => undefined, tick: async () => undefined },
      workerOptions(platform, runs),
    );
    await enqueue(platform.queues, runs.jobs.tick, { source_id: "dc_2" });
    await until(async () => ((await several.getDelayed())[0]?.attemptsStarted ?? 0) > 1);
    expect(await several.getJobCountByTypes("failed")).to.equal(0);
  });

  it("enqueues no job of a kind that the release before does not know", async () => {
    const unknown = { ...QUEUE.jobs.deletions, writes: 0 };
    const failed = await enqueue(platform.queues, unknown, { emitter_id: "dc_1" }).catch(String);
    expect(failed).to.match(/they are only read/);
  });
});
