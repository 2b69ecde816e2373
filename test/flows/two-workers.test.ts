// runs-long: npm test has test/runs/handle-job.test.ts and test/flows/crash.test.ts

import { expect } from "chai";
import { createUser } from "../../src/accounts/users.ts";
import { newId } from "../../src/lib/ids.ts";
import { RunRecords } from "../../src/models/run.ts";
import { SourceMemories } from "../../src/models/source.ts";
import { openPlatform, type Platform } from "../../src/platform.ts";
import { openedQueue } from "../../src/queues/define-queue.ts";
import { enqueueRun, runs } from "../../src/queues/runs.ts";
import { startWeb, type WebServer } from "../../src/server.ts";
import { Api } from "../support/api.ts";
import { dropKeys, testConfig } from "../support/platform.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";
import { environmentOf, spawnWorker, type WorkerProcess, whenReady } from "../workers/worker-process.ts";

/** Records in its `db` which run it was and when it started and ended. */
const SLOW = `export default { name: "Slow", version: "0.0.1",
  props: { http: "$.interface.http", db: "$.service.db" },
  async run(event) {
    const from = Date.now();
    await new Promise(resolve => setTimeout(resolve, 50));
    this.db.set("log", [...(this.db.get("log") ?? []), [event.n, from, Date.now()]]);
  } };`;
const QUICK = `export default { name: "Quick", version: "0.0.1", props: { http: "$.interface.http" }, run() {} };`;
/** Runs until the URL in its event responds. */
const CALLING = `export default { name: "Calling", version: "0.0.1", props: { http: "$.interface.http" },
  async run(event) { await fetch(event.url); } };`;

const BACKLOG = 40;

describe("several worker processes", () => {
  let web: Platform;
  let server: WebServer;
  let receiver: Receiver;
  let api: Api;
  let env: Record<string, string>;
  const processes: WorkerProcess[] = [];

  before(async () => {
    const config = testConfig();
    web = await openPlatform(config, "web");
    server = await startWeb(web);
    receiver = await startReceiver();
    env = {
      ...environmentOf(config),
      CONCURRENCY: "runs:1",
      SANDBOX_EGRESS_ALLOW: "127.0.0.0/8",
      SWEEP_EVERY: "1s",
    };
    const { api_key } = await createUser(web, { email: "two@example.test", plan: "paid" });
    api = new Api(`http://127.0.0.1:${server.port}/v1`, api_key);
  });
  const killAll = async () => {
    for (const worker of processes.splice(0)) {
      worker.kill("SIGKILL");
      await worker.ended;
    }
  };
  after(async () => {
    await killAll();
    await server.close();
    await receiver.close();
    await web.mongo.dropDatabase();
    await dropKeys(web);
    await web.close();
  });

  const start = async (...names: string[]) => {
    const started = names.map(name => spawnWorker(name, env));
    processes.push(...started);
    for (const worker of started) await whenReady(worker);
    return started;
  };
  const source = async (code: string) => (await api.createSource({ component_code: code })).id;
  const run = (sourceId: string, event: Record<string, unknown>) =>
    enqueueRun(web, sourceId, { kind: "http", run_id: newId("run"), at_ms: Date.now(), event });
  const finished = (sourceId: string) => RunRecords(web.mongo).countDocuments({ source_id: sourceId });
  const logOf = async (sourceId: string): Promise<[number, number, number][]> => {
    const memory = await SourceMemories(web.mongo).findById(sourceId).lean();
    return JSON.parse(memory?.db ?? "{}").log ?? [];
  };

  function expectSerial(log: [number, number, number][], length = BACKLOG): void {
    expect(log.map(([n]) => n)).to.deep.equal(Array.from({ length }, (_, n) => n));
    const overlaps = log.filter(([, from], i) => from < (log[i - 1]?.[2] ?? 0));
    expect(overlaps).to.deep.equal([]);
  }

  it("execute the runs of one source serially, in order, and let no busy source starve another", async () => {
    const busy = [await source(SLOW), await source(SLOW), await source(SLOW)];
    const quiet = await source(QUICK);
    for (let n = 0; n < BACKLOG; n++) for (const id of busy) await run(id, { n });
    const workers = await start("runs", "runs");
    await until(async () => (await finished(busy[0] as string)) > 0);

    await run(quiet, {});
    await until(async () => (await finished(quiet)) === 1, { what: "the quiet source's run" });
    const waiting = await Promise.all(busy.map(id => web.runQueue.length(id)));
    expect(Math.min(...waiting), "waiting runs of the busy sources").to.be.above(0);

    for (const id of busy) {
      await until(async () => (await finished(id)) === BACKLOG, { what: "all runs" });
      expectSerial(await logOf(id));
    }
    for (const worker of workers) expect(worker.output()).to.include('"msg":"run"');
  });

  it("execute runs of different sources at the same time", async () => {
    receiver.script("hang");
    const sources = [await source(CALLING), await source(CALLING)];
    for (const id of sources) await run(id, { url: receiver.url });
    // The two workers of the previous test, each of which executes one source at a time.
    if (processes.length === 0) await start("runs", "runs");
    await until(() => receiver.hanging() === 2, { what: "both runs at once" });
    receiver.script(200);
    receiver.release();
    for (const id of sources) await until(async () => (await finished(id)) === 1);
  });

  it("stop within 10 s of SIGTERM, and finish or return the jobs they were handling", async () => {
    await killAll();
    receiver.script("hang");
    const [stuck, backlogged, emitting] = [
      await source(CALLING),
      await source(SLOW),
      await source(`export default { name: "Emitting", version: "0.0.1", props: { http: "$.interface.http" },
        run(event) { this.$emit({ n: event.n }); } };`),
    ];
    await api.subscribe(emitting, (await api.createWebhook(receiver.url)).id);
    env = { ...env, CONCURRENCY: "runs:4" };
    const workers = await start("runs", "emissions", "deliveries", "deletions");
    await run(stuck, { url: receiver.url });
    await run(emitting, { n: 1 });
    await until(() => receiver.hanging() === 2, { what: "a run and a delivery in progress" });
    for (let n = 0; n < BACKLOG / 2; n++) await run(backlogged, { n });
    await until(async () => (await finished(backlogged)) > 0);

    const deadline = new Promise(resolve => setTimeout(() => resolve("still running"), 10_000).unref());
    for (const worker of workers) worker.kill("SIGTERM");
    const codes = await Promise.all(workers.map(worker => Promise.race([worker.ended, deadline])));
    expect(codes).to.deep.equal([0, 0, 0, 0]);
    expect(await web.runQueue.length(backlogged), "rest of the backlog").to.be.above(0);
    const before = receiver.requests.length;

    receiver.script(200);
    await start("all");
    await until(async () => (await finished(stuck)) === 1, { what: "the run that was returned" });
    await until(() => receiver.requests.slice(before).some(({ method }) => method === "POST"), {
      what: "the delivery that was returned",
    });
    await until(async () => (await finished(backlogged)) === BACKLOG / 2);
    expectSerial(await logOf(backlogged), BACKLOG / 2);
    const ids = receiver.requests.filter(({ method }) => method === "POST").map(r => r.headers["webhook-id"]);
    expect(new Set(ids).size).to.equal(1);
    expect(await openedQueue(web.queues, runs).getJobCountByTypes("failed")).to.equal(0);
  });
});
