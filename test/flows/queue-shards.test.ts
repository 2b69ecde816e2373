// runs-long: npm test has test/queues/shards.test.ts and test/store/queue-shards.test.ts

import { expect } from "chai";
import { createUser } from "../../src/accounts/users.ts";
import { checkQueues } from "../../src/cli/doctor/queues.ts";
import { openPlatform, type Platform } from "../../src/platform.ts";
import { openedQueue } from "../../src/queues/define-queue.ts";
import { shardNumber, shardsOf } from "../../src/queues/shards.ts";
import { startWeb, type WebServer } from "../../src/server.ts";
import { Api } from "../support/api.ts";
import { dropKeys, testConfig } from "../support/platform.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";
import { environmentOf, spawnWorker, type WorkerProcess, whenReady } from "../workers/worker-process.ts";

/** Enough for each of four shards to have some: with 12, one has none in every eighth run. */
const EMITTERS = 40;
const QUEUE_SHARDS = "deliveries:4,emissions:4,runs:2";
const TICKING = `export default { name: "Ticking", version: "0.0.1",
  props: { timer: { type: "$.interface.timer", default: { intervalSeconds: 2 } } },
  run(event) { this.$emit({ at: event.timestamp }); } };`;

describe("queues that get more shards while events flow", () => {
  let web: Platform;
  let server: WebServer;
  let receiver: Receiver;
  let api: Api;
  let env: Record<string, string>;
  let emitters: string[];
  let published = 0;
  const processes: WorkerProcess[] = [];

  before(async () => {
    const config = testConfig({ RATE_LIMITS: "api:0" });
    web = await openPlatform(config, "web");
    server = await startWeb(web);
    receiver = await startReceiver();
    env = environmentOf(config);
    const { api_key } = await createUser(web, { email: "shards@example.test", plan: "paid" });
    api = new Api(`http://127.0.0.1:${server.port}/v1`, api_key);
    emitters = [];
    for (let n = 0; n < EMITTERS; n++) {
      const { id } = await api.expect<{ id: string }>(201, "POST", "/workflows", { body: { name: `W${n}` } });
      await api.subscribe(id, (await api.createWebhook(`${receiver.url}/events`)).id);
      emitters.push(id);
    }
  });
  const end = async (workers: WorkerProcess[], signal: NodeJS.Signals) => {
    for (const worker of workers) worker.kill(signal);
    await Promise.all(workers.map(worker => worker.ended));
  };
  afterEach(() => end(processes.splice(0), "SIGKILL"));
  after(async () => {
    await server.close();
    await receiver.close();
    await web.mongo.dropDatabase();
    await dropKeys(web);
    await web.close();
  });

  const start = async (names: string[], settings: Record<string, string> = {}) => {
    const started = names.map(name => spawnWorker(name, { ...env, ...settings }));
    processes.push(...started);
    for (const worker of started) await whenReady(worker);
    return started;
  };
  const publish = async () => {
    const n = published++;
    const path = `/workflows/${emitters[n % EMITTERS]}/events`;
    await api.expect(202, "POST", path, { body: { event: { n } } });
  };
  /** The webhook-ids of each event: an attempt may be made again after a kill, but under the same id. */
  const idsOf = (prefix: string, keyOf: (event: { n: number; at: number }) => number) => {
    const found = new Map<string, Set<unknown>>();
    for (const { path, raw, headers } of receiver.requests.filter(one => one.path.startsWith(prefix))) {
      const key = `${path} ${keyOf(JSON.parse(raw))}`;
      found.set(key, (found.get(key) ?? new Set()).add(headers["webhook-id"]));
    }
    return found;
  };
  const expectAll = async () => {
    await until(() => idsOf("/hook/events", ({ n }) => n).size === published, { what: "all events" });
    const doubled = [...idsOf("/hook/events", ({ n }) => n)].filter(([, ids]) => ids.size > 1);
    expect(doubled, "events under two ids").to.deep.equal([]);
  };
  const sharding = (name: string) => openedQueue(web.queues, { name }).sharding;

  it("loses and doubles none, and processes of before go on with all shards when the new ones die", async () => {
    await start(["runs", "emissions", "deliveries"]);
    const sources: string[] = [];
    for (let n = 0; n < 4; n++) {
      const source = await api.createSource({ component_code: TICKING });
      await api.subscribe(source.id, (await api.createWebhook(`${receiver.url}/ticks/${n}`)).id);
      sources.push(source.id);
    }
    const publishUntilGrown = async () => {
      while (sharding("emissions")?.producing !== 4 || published < 200) await publish();
    };
    const [grown] = await Promise.all([
      start(["runs", "emissions", "deliveries"], { QUEUE_SHARDS }),
      publishUntilGrown(),
    ]);
    for (let n = 0; n < 60; n++) await publish();
    await expectAll();
    for (const name of ["emissions", "deliveries"]) {
      const entries = shardsOf(openedQueue(web.queues, { name })).map(shard =>
        web.redis.xlen(shard.toKey("events")),
      );
      expect(await Promise.all(entries), name)
        .to.have.length(4)
        .and.satisfy((all: number[]) => Math.min(...all) > 0);
    }

    await end(grown, "SIGKILL");
    for (let n = 0; n < 60; n++) await publish();
    await expectAll();

    // Each timer ticks on its own shard by now, and each of its moments was one event.
    const runs = openedQueue(web.queues, { name: "runs" });
    const isOnOwn = async (id: string) => {
      const found = await Promise.all(shardsOf(runs).map(shard => shard.getJobScheduler(id)));
      return found.every((one, shard) => (one !== undefined) === (shard === shardNumber(runs, id)));
    };
    await until(async () => (await Promise.all(sources.map(isOnOwn))).every(Boolean), {
      what: "timers that moved",
    });
    const ticks = [...idsOf("/hook/ticks", ({ at }) => at)];
    expect(ticks).to.have.length.above(0);
    expect(
      ticks.filter(([, ids]) => ids.size > 1),
      "moments that were two events",
    ).to.deep.equal([]);
  });

  it("keep the stored number if a process has a smaller setting, which says so", async () => {
    const [worker] = await start(["deliveries"], { QUEUE_SHARDS: "deliveries:2" });
    expect(worker?.output()).to.include("QUEUE_SHARDS is below the stored number");
    for (let n = 0; n < 24; n++) await publish();
    await start(["emissions"]);
    await expectAll();
  });

  it("are consumed shard by shard if processes are told which, and doctor names one that has no worker", async () => {
    const without = async () =>
      (await checkQueues(web))
        .filter(
          ({ check, message }) => check.startsWith("queue deliveries") && message.startsWith("no worker"),
        )
        .map(({ check }) => check);
    await start(["emissions"]);
    await start(["deliveries"], { WORKER_SHARDS: "0,1" });
    await until(async () => (await without()).join() === "queue deliveries.2,queue deliveries.3");
    for (let n = 0; n < 48; n++) await publish();
    await start(["deliveries"], { WORKER_SHARDS: "2,3" });
    await expectAll();
    await until(async () => (await without()).length === 0);
  });
});
