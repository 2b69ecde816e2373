import { expect } from "chai";
import { openPlatform, type Platform } from "../../src/platform.ts";
import { defineQueue, enqueue, enqueueAll, openedQueue } from "../../src/queues/define-queue.ts";
import { deliveries } from "../../src/queues/deliveries.ts";
import { type RunningWorker, runWorker } from "../../src/queues/run-worker.ts";
import { Snooze } from "../../src/queues/verdicts.ts";
import { workerOptions } from "../../workers/start-worker.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { until } from "../support/until.ts";

const JOB = deliveries.jobs.drain;
/** A worker of the same queue with a handler of the test. */
const QUEUE = defineQueue({
  name: "deliveries",
  quantum: deliveries.quantum ?? 0,
  options: JOB.options,
  jobs: { drain: JOB },
});

/** More than one test makes. */
const MOST_JOBS = 100_000;

interface Served {
  account: string;
  n: number;
}

describe("the order between accounts", () => {
  let platform: TestPlatform;
  let other: Platform;
  const workers: RunningWorker[] = [];
  let served: Served[];

  beforeEach(async () => {
    platform = await openTestPlatform({ TIMEOUTS: "stalled:1s" }, { process: "deliveries" });
    other = await openPlatform(platform.config, "deliveries");
    served = [];
  });
  afterEach(async () => {
    await Promise.all(workers.splice(0).map(worker => worker.close(0)));
    await other.close();
    await platform.destroy();
  });

  let made = 0;
  /** `due_ms` holds the number of the job, and makes its id one of its own. */
  const job = (account: string, n: number) => ({
    webhook_id: "wh_1",
    reason: "order" as const,
    due_ms: n * MOST_JOBS + made++,
    account_id: account,
  });
  const jobs = (account: string, count: number) => Array.from({ length: count }, (_, n) => job(account, n));
  const add = (account: string, count: number, delayMs?: number) =>
    enqueueAll(platform.queues, JOB, jobs(account, count), delayMs === undefined ? {} : { delayMs });
  const waiting = () =>
    openedQueue(platform.queues, deliveries).getJobCountByTypes(
      "waiting",
      "prioritized",
      "active",
      "delayed",
    );

  /** Starts a worker that handles one job at a time, so that the order in which it does is that of the queue. */
  function work(
    handle: (one: Served) => Promise<void> = async () => {},
    concurrency = 1,
    on: Platform = platform,
  ) {
    const worker = runWorker(
      QUEUE,
      {
        drain: async ({ job: { account_id = "", due_ms } }) => {
          const one = { account: account_id, n: Math.floor(due_ms / MOST_JOBS) };
          await handle(one);
          served.push(one);
          return undefined;
        },
      },
      { ...workerOptions(on, QUEUE), concurrency },
    );
    workers.push(worker);
  }
  const servedAll = (count: number) => until(() => served.length >= count, { what: `${count} jobs` });
  /** Where an account's first `count` jobs are in the order. */
  const placesOf = (account: string) =>
    served.flatMap((one, place) => (one.account === account ? [place] : []));

  it("puts another account's jobs before the backlog of one, which keeps its own order", async () => {
    for (let batch = 0; batch < 8; batch++) await add("flood", 500);
    await add("quiet", 20);
    work();
    await servedAll(600);
    expect(placesOf("quiet").at(-1)).to.be.below(100);
    expect(placesOf("quiet")).to.have.length(20);
  });

  it("serves accounts with backlogs in turn @long", async () => {
    await add("a", 600);
    await add("b", 300);
    await add("c", 300);
    work();
    await servedAll(1200);
    for (const account of ["a", "b", "c"]) {
      const among = served.slice(0, 900).filter(one => one.account === account).length;
      expect(among, account).to.be.within(250, 340);
      const numbers = served.filter(one => one.account === account).map(({ n }) => n);
      expect(numbers, `${account} in its own order`).to.deep.equal([...numbers].sort((x, y) => x - y));
    }
  });

  it("holds over processes, and for jobs that are enqueued one by one @long", async () => {
    await add("flood", 200);
    for (const [n, one] of jobs("flood", 200).entries())
      await enqueue((n % 2 ? other : platform).queues, JOB, one);
    await enqueue(other.queues, JOB, job("quiet", 0));
    expect(await openedQueue(platform.queues, deliveries).getJobCountByTypes("waiting")).to.be.below(150);
    work();
    await servedAll(401);
    expect(placesOf("quiet")[0]).to.be.below(150);
  });

  it("lets later attempts that are due at once stand behind the first ones of another account @long", async () => {
    await add("flood", 500, 50);
    await until(async () => (await openedQueue(platform.queues, deliveries).getDelayedCount()) === 500);
    await add("backlog", 200);
    // Due only once a worker looks.
    work();
    await servedAll(300);
    expect(served.slice(0, 300).filter(({ account }) => account === "backlog").length).to.be.at.least(130);
    await add("quiet", 5);
    const before = served.length;
    await servedAll(700);
    expect(placesOf("quiet").at(-1)).to.be.below(before + 60);
  });

  it("charges jobs of other producers when they are fetched @long", async () => {
    const queue = openedQueue(platform.queues, deliveries);
    const foreign = jobs("flood", 400).map(({ account_id, ...data }) => ({ name: JOB.name, data }));
    await queue.addBulk(foreign);
    await add("quiet", 10);
    work();
    await servedAll(410);
    expect(placesOf("quiet").at(-1)).to.be.below(150);
  });

  it("requeues no job of another producer as long as no other account has jobs, and then serves both in turn @long", async () => {
    const queue = openedQueue(platform.queues, deliveries);
    const foreign = jobs("flood", 400).map(({ account_id, ...data }) => ({ name: JOB.name, data }));
    await queue.addBulk(foreign);
    let isHeld = true;
    work(async () => {
      if (served.length === 200) await until(() => !isHeld);
    });
    await servedAll(200);
    const requeued = async () => {
      const { body } = await platform.metrics.expose();
      return /^headwater_jobs_requeued_total\{[^}]*\} (\d+)/m.exec(body)?.[1] ?? "0";
    };
    expect(await requeued()).to.equal("0");
    await add("quiet", 100);
    isHeld = false;
    await servedAll(500);
    expect(placesOf("quiet").at(-1)).to.be.below(480);
    const between = placesOf("quiet").at(-1) as number;
    expect(served.slice(200, between).filter(({ account }) => account === "").length).to.be.above(40);
  });

  it("forgets the past once the queue is empty", async () => {
    await add("flood", 1000);
    work();
    await servedAll(1000);
    await until(async () => (await waiting()) === 0);
    await new Promise(resolve => setImmediate(resolve));
    await until(async () => {
      await add("flood", 1);
      return (await openedQueue(platform.queues, deliveries).getJobCountByTypes("prioritized")) === 0;
    });
  });

  it("is restored for a job that comes again, so that it neither jumps the queue nor is left behind @long", async () => {
    let snoozed = 0;
    await add("flood", 300);
    work(async one => {
      if (one.account === "flood" && snoozed < 200) {
        snoozed += 1;
        throw new Snooze(20, {});
      }
    });
    await until(() => snoozed === 200);
    await add("quiet", 30);
    const before = served.length;
    await servedAll(330);
    expect(placesOf("quiet").at(-1)).to.be.below(before + 150);
  });

  describe("in the slots of a worker", () => {
    /** Jobs of these accounts last until they are released. */
    function workWithHanging(concurrency: number, accounts: string[]) {
      const ends: (() => void)[] = [];
      let hanging = 0;
      work(async ({ account }) => {
        if (!accounts.includes(account)) return;
        hanging += 1;
        await new Promise<void>(resolve => ends.push(resolve));
        hanging -= 1;
      }, concurrency);
      return { hanging: () => hanging, release: () => ends.splice(0).forEach(end => void end()) };
    }

    it("lets no turn be held up by jobs that can't start, however many jobs others have had", async () => {
      const { hanging, release } = workWithHanging(8, ["stuck"]);
      await add("stuck", 40);
      await until(() => hanging() === 6);
      for (let n = 0; n < 3 * (deliveries.quantum ?? 0); n++) {
        await add("quiet", 1);
        await until(() => served.length === n + 1, { what: `job ${n}` });
      }
      expect(hanging()).to.equal(6);
      const ending = setInterval(release, 5);
      await servedAll(136);
      clearInterval(ending);
    });

    it("leaves a quarter to others, however many jobs of one account hang", async () => {
      const { hanging, release } = workWithHanging(8, ["stuck"]);
      await add("stuck", 200);
      await until(() => hanging() === 6);
      for (let n = 0; n < 40; n++) {
        await add("quiet", 1);
        await until(() => served.length === n + 1, { what: `job ${n}` });
      }
      expect(hanging()).to.equal(6);
      const ending = setInterval(release, 5);
      await servedAll(240);
      clearInterval(ending);
      expect(new Set(served.map(({ account, n }) => `${account} ${n}`)).size).to.equal(201);
    });

    it("uses every slot for accounts that need them, and gives a free one to who has fewest", async () => {
      const { hanging, release } = workWithHanging(8, ["a", "b", "c"]);
      await add("a", 60);
      await until(() => hanging() === 6);
      await add("b", 60);
      await until(() => hanging() === 8);
      await add("c", 1);
      release();
      await until(() => hanging() === 8);
      const ending = setInterval(release, 5);
      await servedAll(121);
      clearInterval(ending);
      // At most a turn of each of the other two goes first, and what was in their slots.
      expect(placesOf("c")[0]).to.be.below(2 * (deliveries.quantum ?? 0) + 8);
    });

    it("loses no job that waits for a slot when its worker is stopped", async () => {
      const { hanging, release } = workWithHanging(4, ["stuck"]);
      await add("stuck", 30);
      await until(() => hanging() === 3);
      const [stopped] = workers.splice(0);
      const closing = stopped?.close(5000);
      release();
      await closing;
      expect(served.length).to.equal(3);
      expect(await waiting()).to.equal(27);
      work(undefined, 4);
      await servedAll(30);
      expect(new Set(served.map(({ n }) => n)).size).to.equal(30);
    });
  });
});
