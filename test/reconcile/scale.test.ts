import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect } from "chai";
import { newId } from "../../src/lib/ids.ts";
import { Sources } from "../../src/models/source.ts";
import { Subscriptions } from "../../src/models/subscription.ts";
import { openedQueue } from "../../src/queues/define-queue.ts";
import { enqueueRun, runs } from "../../src/queues/runs.ts";
import { STEP_NAMES } from "../../src/reconcile/parts.ts";
import { Reconciler } from "../../src/reconcile/reconcile.ts";
import { ofAccount } from "../../src/store/runs/run-queue.ts";
import { readSweepProgress } from "../../src/store/sweeps/sweep-turns.ts";
import { findSubscriptions } from "../../src/subscriptions/match.ts";
import { storeSource } from "../sources/source-row.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";

const isFullSize = process.env.SCALE_FULL === "1";
const COUNT = isFullSize
  ? { sources: 200_000, timers: 50_000, subscriptions: 500_000, cached: 50_000, waiting: 100_000 }
  : { sources: 1500, timers: 700, subscriptions: 1500, cached: 100, waiting: 300 };
const ROWS_PER_INSERT = 5000;
const MB = 1024 * 1024;
const say = (text: string) => isFullSize && console.log(`    ${text}`);

/** `npm run test:scale` runs it at full size and prints what it measured (docs/performance.md#memory-of-an-emitter). */
describe("the reconciler with many idle sources", function () {
  if (isFullSize) this.timeout(60 * 60_000);
  let platform: TestPlatform;
  let reconciler: Reconciler;
  const sourceIds: string[] = [];
  before(async () => {
    // Rounds are started by the test.
    platform = await openTestPlatform({ SWEEP_EVERY: "30s" });
    reconciler = new Reconciler(platform);
    await storeRows();
  });
  after(async () => {
    await reconciler.stop();
    await platform.destroy();
  });

  type Rows = { insertMany: (rows: never[], options: { ordered: boolean; lean: true }) => Promise<unknown> };

  async function insert(rows: Rows, count: number, row: (n: number) => object): Promise<void> {
    for (let at = 0; at < count; at += ROWS_PER_INSERT) {
      const some = Array.from({ length: Math.min(ROWS_PER_INSERT, count - at) }, (_, i) => row(at + i));
      await rows.insertMany(some as never[], { ordered: false, lean: true });
    }
  }

  async function storeRows(): Promise<void> {
    const source = await storeSource(platform, { updated_at: 1 });
    await Sources(platform.mongo).deleteOne({ _id: source._id });
    const hour = (n: number) => ({
      cron: `${n % 60} ${n % 24} * * *`,
      timezone: "UTC",
      interval_seconds: null,
    });
    const interval = { cron: null, timezone: null, interval_seconds: 86_400 };
    const now = Math.floor(Date.now() / 1000);
    await insert(Sources(platform.mongo) as unknown as Rows, COUNT.sources, n => {
      const _id = newId("dc");
      sourceIds.push(_id);
      const isTimer = n < COUNT.timers;
      const timer = n % 2 ? hour(n) : interval;
      // A cron timer makes up for a moment it missed since its last change: none here.
      return {
        ...source,
        _id,
        name_slug: `row-${n}`,
        ...(isTimer && { timer, updated_at: n % 2 ? now : 1 }),
      };
    });
    const ids = { owner_id: "u_1", user_id: "u_1", event_name: "", filter: null, created_at: 0 };
    await insert(Subscriptions(platform.mongo) as unknown as Rows, COUNT.subscriptions, n => ({
      _id: newId("sub"),
      ...ids,
      emitter_id: sourceIds[n % COUNT.sources],
      listener_id: `wh_${n}`,
    }));
    say(`${COUNT.sources} sources, ${COUNT.timers} timers, ${COUNT.subscriptions} subscriptions`);
  }

  const info = async (section: string, name: string) => {
    const text =
      "info" in platform.redis
        ? await (platform.redis as { info(s: string): Promise<string> }).info(section)
        : "";
    return Number(new RegExp(`${name}:([0-9.]+)`).exec(text)?.[1]);
  };
  const redisCpu = async () =>
    (await info("cpu", "used_cpu_user_main_thread")) + (await info("cpu", "used_cpu_sys_main_thread"));
  const schedulers = () => platform.redis.zcard(openedQueue(platform.queues, runs).toKey("repeat"));

  /** Runs one turn of every step, prints its cost, and returns what was repaired. */
  async function round(what: string): Promise<Record<string, number>> {
    const [startedAt, cpu, redis] = [performance.now(), process.cpuUsage(), await redisCpu()];
    // As if SWEEP_EVERY had passed.
    await platform.redis.del(platform.keys.sweepUnits());
    const repaired = await reconciler.round();
    const { user, system } = process.cpuUsage(cpu);
    const seconds = (ms: number) => (ms / 1000).toFixed(2);
    const inRedis = (await redisCpu()) - redis;
    say(
      `${what}: ${seconds(performance.now() - startedAt)} s, CPU ${seconds((user + system) / 1000)} s here, ` +
        `${inRedis.toFixed(2)} s in Redis, ${JSON.stringify(repaired)}`,
    );
    return repaired;
  }

  it("sets all timers after a loss of Redis, and then goes through them in bounded turns that change nothing", async () => {
    const usedBefore = await info("memory", "used_memory");
    let rounds = 0;
    while ((await schedulers()) < COUNT.timers) {
      const { timers = 0 } = await round("a turn that sets timers");
      expect(timers, "set in one turn").to.be.above(0);
      rounds += 1;
    }
    say(`all timers are set after ${rounds} turns`);
    const bytes = ((await info("memory", "used_memory")) - usedBefore) / COUNT.timers;
    say(`Redis: ${Math.round(bytes)} bytes for each idle timer, 0 for each other source`);
    const turns = isFullSize ? 12 : 3;
    for (let n = 0; n < turns; n++) {
      const repaired = await round("an idle turn");
      const changes = Object.entries(repaired).filter(([, count]) => count > 0);
      expect(changes, "nothing is wrong").to.deep.equal([]);
    }
    const progress = await readSweepProgress(platform);
    for (const name of STEP_NAMES) expect(progress.has(name), name).to.equal(true);
    expect(await schedulers()).to.equal(COUNT.timers);
  });

  it("looks at sources whose runs wait for their turn without a job or a notification more", async () => {
    const waiting = sourceIds.slice(-COUNT.waiting);
    for (let at = 0; at < waiting.length; at += 100) {
      await Promise.all(
        waiting.slice(at, at + 100).map(id => {
          const run = { kind: "http" as const, run_id: newId("run"), at_ms: 1, event: {} };
          return enqueueRun(platform, id, run as never, ofAccount("u_1"));
        }),
      );
    }
    const queue = openedQueue(platform.queues, runs);
    const jobs = async () => (await queue.getJobCountByTypes("waiting", "prioritized")) as number;
    const before = await jobs();
    say(`${waiting.length} sources with a run that waits`);
    // As if they had waited for long.
    for (const id of waiting) await platform.redis.zadd(platform.keys.sourcesWithRuns(), 1, id);
    for (let n = 0; n < (isFullSize ? 6 : 1); n++) await round("a turn with waiting runs");
    expect(await jobs()).to.equal(before);
  });

  it("keeps a bounded part of the routing in the memory of a process", async () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const heap = () => {
      collect();
      return process.memoryUsage().heapUsed / MB;
    };
    const before = heap();
    for (let at = 0; at < COUNT.cached; at += 500) {
      const ids = sourceIds.slice(at, Math.min(at + 500, COUNT.cached));
      const found = await platform.routing.lookUp(
        "subscriptions",
        ids,
        async missing => {
          const some = missing.map(
            async id => [id, await findSubscriptions(platform, { id, owner_id: "u_1" }, "")] as const,
          );
          return new Map(await Promise.all(some));
        },
        () => ["u_1"],
      );
      expect(found.size).to.equal(ids.length);
    }
    const added = heap() - before;
    say(
      `routing of ${COUNT.cached} sources looked up: heap + ${added.toFixed(0)} MB, ${process.memoryUsage().rss / MB} MB in all`,
    );
    expect(added).to.be.below(200);
  });
});
