// runs-long: npm test has test/reconcile/timers.test.ts and test/runs/tick.test.ts

import { expect } from "chai";
import { createUser } from "../../src/accounts/users.ts";
import { RunRecords } from "../../src/models/run.ts";
import { type Source, Sources, type StoredTimer } from "../../src/models/source.ts";
import { openPlatform, type Platform } from "../../src/platform.ts";
import { openedQueue } from "../../src/queues/define-queue.ts";
import { runs } from "../../src/queues/runs.ts";
import { startWeb, type WebServer } from "../../src/server.ts";
import { activeTimer, setScheduler } from "../../src/sources/timer-scheduler.ts";
import { readDrops } from "../../src/store/events/drops.ts";
import { Api } from "../support/api.ts";
import { dropKeys, testConfig } from "../support/platform.ts";
import { sweep } from "../support/sweep.ts";
import { until } from "../support/until.ts";
import { environmentOf, spawnWorker, type WorkerProcess, whenReady } from "../workers/worker-process.ts";

const MINUTE = 60_000;
/** Long enough that several ticks of the timers below are missed. */
const AWAY_MS = 20 * MINUTE;

const timerCode = (timer: Record<string, unknown>) => `export default { name: "Timer", version: "0.0.1",
  props: { timer: { type: "$.interface.timer", default: ${JSON.stringify(timer)} } },
  run(event) { this.$emit(event); } };`;

/** An interval and a cron that miss several ticks in that time, and have none in the minutes that follow. */
const INTERVAL = { intervalSeconds: 500 };
const cronOfThePast = () => {
  const minutes = [15, 10, 5].map(ago => new Date(Date.now() - ago * MINUTE).getUTCMinutes());
  return { cron: `${minutes.join(",")} * * * *` };
};

describe("timers after an outage", () => {
  let web: Platform;
  let server: WebServer;
  let api: Api;
  let env: Record<string, string>;
  const processes: WorkerProcess[] = [];

  beforeEach(async () => {
    const config = testConfig();
    web = await openPlatform(config, "web");
    server = await startWeb(web);
    env = { ...environmentOf(config), SWEEP_EVERY: "1s" };
    const { api_key } = await createUser(web, { email: "timers@example.test" });
    api = new Api(`http://127.0.0.1:${server.port}/v1`, api_key);
  });
  afterEach(async () => {
    for (const worker of processes.splice(0)) {
      worker.kill("SIGKILL");
      await worker.ended;
    }
    await server.close();
    await web.mongo.dropDatabase();
    await dropKeys(web);
    await web.close();
  });

  const queue = () => openedQueue(web.queues, runs);
  const start = async (...names: string[]) => {
    processes.push(...names.map(name => spawnWorker(name, env)));
    for (const worker of processes) await whenReady(worker);
  };
  const timerRuns = (sourceId: string) =>
    RunRecords(web.mongo).find({ source_id: sourceId, kind: "timer" }).sort({ _id: 1 }).lean();

  /** Creates a timer source that is as old as the outage, without its scheduler. */
  async function timerSource(timer: Record<string, unknown>): Promise<Source> {
    const { id } = await api.createSource({ component_code: timerCode(timer) });
    await queue().removeJobScheduler(id);
    // Removes its first tick, which waits.
    await queue().drain();
    const source = await Sources(web.mongo).findOneAndUpdate(
      { _id: id },
      { $set: { updated_at: Math.floor((Date.now() - AWAY_MS) / 1000) } },
      { returnDocument: "after" },
    );
    return source as Source;
  }

  /** Sets the timer's scheduler as it was before the outage: BullMQ reads the time from `Date.now`. */
  async function setBeforeOutage(source: Source): Promise<void> {
    const { now } = Date;
    Date.now = () => now() - AWAY_MS;
    try {
      await setScheduler(web, source, activeTimer(source) as StoredTimer);
    } finally {
      Date.now = now;
    }
    const late = await queue().getJobScheduler(source._id);
    expect(late?.next).to.be.below(Date.now() - AWAY_MS / 2);
  }

  /** Waits until the timer has run once for all its missed ticks, and its next tick is in the future. */
  async function expectOneRun(source: Source): Promise<void> {
    await until(async () => (await timerRuns(source._id)).length > 0, { what: "the run" });
    await until(async () => ((await queue().getJobScheduler(source._id))?.next ?? 0) > Date.now());
    await until(async () => (await queue().getJobCountByTypes("waiting", "prioritized", "active")) === 0);
    // Further passes of the reconciler change nothing.
    expect(await sweep(web, "timers")).to.equal(0);
    await until(async () => (await queue().getJobCountByTypes("waiting", "prioritized", "active")) === 0);
    const made = await timerRuns(source._id);
    expect(made.map(run => run.outcome)).to.deep.equal(["ok"]);
  }

  it("fire once if all processes were down over several ticks and two start at once", async () => {
    const sources = [await timerSource(INTERVAL), await timerSource(cronOfThePast())];
    for (const source of sources) await setBeforeOutage(source);
    await start("runs", "runs");
    for (const source of sources) await expectOneRun(source);
  });

  it("are restored and fire once if Redis lost its data and two processes start at once", async () => {
    const sources = [await timerSource(INTERVAL), await timerSource(cronOfThePast())];
    await start("runs", "runs");
    for (const source of sources) await expectOneRun(source);
  });

  it("make one run of ticks that piled up during the outage, and count the others as dropped", async () => {
    const source = await timerSource(INTERVAL);
    for (let missed = 1; missed <= 5; missed++) {
      const timestamp = Date.now() - missed * 1000;
      await queue().add("tick", { source_id: source._id }, { ...runs.jobs.tick.options, timestamp });
    }
    await setScheduler(web, source, activeTimer(source) as StoredTimer);
    await start("runs");
    await expectOneRun(source);
    expect(await readDrops(web, source._id)).to.deep.include({ "timer-overlap": 5 });
  });
});
