import { expect } from "chai";
import { usageToday } from "../../src/accounts/usage.ts";
import { newId } from "../../src/lib/ids.ts";
import { RunRecords } from "../../src/models/run.ts";
import { SourceMemories, Sources } from "../../src/models/source.ts";
import { openedQueue } from "../../src/queues/define-queue.ts";
import type { JobContext } from "../../src/queues/job-kinds.ts";
import type { RunningWorker } from "../../src/queues/run-worker.ts";
import { notifyRuns, type SourceJob } from "../../src/queues/runs.ts";
import { executeQueuedRuns } from "../../src/runs/handle-job.ts";
import { tick } from "../../src/runs/tick.ts";
import { readDrops } from "../../src/store/events/drops.ts";
import { leaseToken, UNBOUNDED } from "../../src/store/runs/run-queue.ts";
import { start as startEmissions } from "../../workers/emissions.ts";
import { start as startRuns } from "../../workers/runs.ts";
import { type Received, type Receiver, startReceiver } from "../support/receiver.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";
import { environmentOf, spawnWorker, type WorkerProcess } from "../workers/worker-process.ts";
import { COUNTING, code, ENV, numbered, queuedRuns, raw } from "./queued-runs.ts";

describe("the run queue of a source", () => {
  let system: System;
  let emissions: RunningWorker;
  let receiver: Receiver;
  before(async () => {
    system = await startSystem(ENV, { workers: false });
    emissions = startEmissions(system.worker);
    await emissions.ready();
  });
  beforeEach(async () => {
    receiver = await startReceiver();
  });
  afterEach(() => receiver.close());
  after(async () => {
    await emissions.close(3000);
    await system.stop();
  });

  const { newSource, enqueue, recordsOf, eventsOf } = queuedRuns(() => system);

  describe("with a running worker", () => {
    let runs: RunningWorker;
    before(async () => {
      runs = startRuns(system.worker);
      await runs.ready();
    });
    after(() => runs.close(3000));

    it("is executed in order; several runs are recorded together, with one write of their memory", async () => {
      const source = await newSource(COUNTING);
      const runIds = await enqueue(source.id, numbered(60));
      const records = await recordsOf(source.id, runIds);
      expect(records.map(record => record.outcome)).to.deep.equal(runIds.map(() => "ok"));

      const events = await eventsOf(source, 60);
      expect(raw(events)).to.deep.equal(numbered(60).map(({ n }) => ({ n, count: n + 1 })));
      expect(events.map(({ metadata }) => metadata.emit_id)).to.deep.equal(runIds.map(id => `${id}-0`));

      const batches = new Set(records.map(record => record.finished_at.getTime())).size;
      expect(batches).to.be.below(60);
      const memory = await SourceMemories(system.web.mongo).findById(source.id).lean();
      expect(memory?.version, "writes of its memory").to.equal(batches);
      expect(JSON.parse(memory?.db ?? "")).to.deep.equal({ count: 60 });
      expect(await system.web.runQueue.isStalled(source.id)).to.equal(false);
    });

    it("keeps the memory of a run that failed, and continues with the next", async () => {
      const source = await newSource(
        code(`this.db.set("seen", [...(this.db.get("seen") ?? []), event.n]);
          if (event.n === 1) throw new Error("on purpose");
          this.$emit(this.db.get("seen"));`),
      );
      const records = await recordsOf(source.id, await enqueue(source.id, numbered(3)));
      expect(records.map(({ outcome }) => outcome)).to.deep.equal(["ok", "Error", "ok"]);
      expect(raw(await eventsOf(source, 2))).to.deep.equal([[0], [0, 1, 2]]);
    });

    it("publishes the events of a quick run without waiting for a slow run after it", async () => {
      const source = await newSource(COUNTING);
      await recordsOf(source.id, await enqueue(source.id, numbered(1)));
      receiver.script("hang");
      const runIds = await enqueue(source.id, [{ n: 1 }, { n: 2, url: receiver.url }]);
      await until(() => receiver.hanging() === 1, { what: "the start of the slow run" });
      expect(raw(await eventsOf(source, 2))).to.deep.equal(numbered(2).map(({ n }) => ({ n, count: n + 1 })));
      expect(receiver.hanging()).to.equal(1);
      receiver.release();
      await until(() => RunRecords(system.web.mongo).exists({ _id: runIds[1] }), {
        what: "the slow run's record",
      });
      expect(raw(await eventsOf(source, 3)).at(-1)).to.deep.equal({ n: 2, count: 3 });
    });

    it("records a run that ends its own sandbox as failed, once, and continues with the next", async () => {
      const source = await newSource(
        code(`await fetch(event.url + "/" + event.n);
          if (event.n === 1) process.exit(3);
          if (event.n === 3) { const all = []; for (;;) all.push(new Array(1e5).fill(Math.random())); }
          this.$emit(event.n);`),
      );
      const runIds = await enqueue(source.id, numbered(5, { url: receiver.url }));
      const records = await recordsOf(source.id, runIds);
      const outcomes = records.map(({ outcome }) => outcome);
      expect(outcomes).to.deep.equal(["ok", "Error", "ok", "Out of Memory", "ok"]);
      expect(records[1]?.error?.message).to.match(/ended its own process/);
      expect(raw(await eventsOf(source, 3))).to.deep.equal([0, 2, 4]);
      const requested = receiver.requests.map(({ path }) => path);
      expect(requested).to.deep.equal([0, 1, 2, 3, 4].map(n => `/hook/${n}`));
      const errors = await eventsOf(source, 2, "$errors");
      expect(errors.map(({ event }) => event.original_event.n)).to.deep.equal([1, 3]);
    });

    it("executes exactly as many runs as the quota allows, records one of the rest and counts all", async () => {
      const source = await newSource(COUNTING, "free");
      const runIds = (await enqueue(source.id, numbered(12))).slice(0, 6);
      const records = await recordsOf(source.id, runIds);
      const expected = [...Array(5).fill("ok"), "Quota Exceeded"];
      expect(records.map(({ outcome }) => outcome)).to.deep.equal(expected);
      expect(raw(await eventsOf(source, 5)).map(event => event.count)).to.deep.equal([1, 2, 3, 4, 5]);
      const errors = await eventsOf(source, 1, "$errors");
      expect(new Set(errors.map(({ event }) => event.error.code))).to.deep.equal(new Set(["Quota Exceeded"]));
      const drops = await until(async () => {
        const found = await readDrops(system.web, source.id);
        return found["over-quota"] === 7 && found;
      });
      expect(drops["over-quota"]).to.equal(7);
      expect((await usageToday(system.web, source.api.userId)).invocations).to.equal(5);
    });

    it("counts a timer's run as waiting until it starts, even after it has been claimed", async () => {
      const source = await newSource(
        `export default { name: "Both", version: "0.0.1",
          props: { http: "$.interface.http", timer: { type: "$.interface.timer", default: { cron: "0 0 1 1 *" } } },
          async run(event) { if (event.url) await fetch(event.url); } };`,
      );
      receiver.script("hang");
      const runIds = await enqueue(source.id, numbered(1, { url: receiver.url }));
      await until(() => receiver.hanging() === 1, { what: "the start of the first run" });
      const now = Date.now();
      runIds.push(...(await enqueue(source.id, numbered(1, { url: receiver.url }))));
      expect(await tick(system.web, source.id, now)).to.equal("enqueued");
      receiver.release();
      await until(() => receiver.requests.length === 2 && receiver.hanging() === 1, {
        what: "the start of the second run, with the timer's run claimed after it",
      });
      expect(await system.web.redis.llen(system.web.keys.runQueue(source.id)), "waiting runs").to.equal(0);
      expect(await tick(system.web, source.id, Date.now() + 1000)).to.equal("overlap");
      receiver.script(200);
      receiver.release();
      await until(
        async () => (await RunRecords(system.web.mongo).countDocuments({ source_id: source.id })) === 3,
        { what: "the timer's run" },
      );
      expect(await tick(system.web, source.id, Date.now() + 1500)).to.equal("enqueued");
    });

    it("drops a queued run that can't be read, counts it, and continues with the next", async () => {
      const source = await newSource(COUNTING);
      const deep = `${"[".repeat(20_000)}${"]".repeat(20_000)}`;
      const item = (event: string) =>
        `{"kind":"http","run_id":"${newId("run")}","at_ms":${Date.now()},"event":${event}}`;
      // As an older version accepted them.
      const items = [item('{"n":1}'), item(deep), "{", item('{"n":2}')];
      await system.web.runQueue.push(source.id, items, UNBOUNDED);
      await notifyRuns(system.web, source.id);
      expect(raw(await eventsOf(source, 2))).to.deep.equal([
        { n: 1, count: 1 },
        { n: 2, count: 2 },
      ]);
      await until(async () => (await readDrops(system.web, source.id)).invalid === 2, { what: "the drops" });
    });

    it("keeps a run of a newer release in its place, with those behind it, for the workers of that one", async () => {
      const source = await newSource(COUNTING);
      const { web } = system;
      const item = (more: Record<string, unknown>, n: number) =>
        JSON.stringify({ kind: "http", run_id: newId("run"), at_ms: Date.now(), event: { n }, ...more });
      await web.runQueue.push(source.id, [item({}, 0), item({ v: 3 }, 1), item({}, 2)], UNBOUNDED);
      await notifyRuns(web, source.id);
      await eventsOf(source, 1);
      await until(
        async () => {
          const delayed = await openedQueue(web.queues, { name: "runs" }).getDelayed();
          return delayed.some(
            ({ data, attemptsStarted }) => data.source_id === source.id && attemptsStarted > 1,
          );
        },
        { what: "its job to wait" },
      );
      expect(raw(await eventsOf(source, 1))).to.deep.equal([{ n: 0, count: 1 }]);
      expect(await readDrops(web, source.id)).to.not.have.property("invalid");

      // A change is not behind it.
      expect((await source.api.request("DELETE", `/sources/${source.id}`)).status).to.equal(204);
    });

    it("gives up a run that can't be recorded, continues with the next, and takes changes", async () => {
      const source = await newSource(COUNTING);
      // It fails, and the error event of a run at such a time can't be made.
      const poison = { kind: "http", run_id: newId("run"), at_ms: 1e300, event: { n: 0, url: "no URL" } };
      const next = { kind: "http", run_id: newId("run"), at_ms: Date.now(), event: { n: 1 } };
      await system.web.runQueue.push(
        source.id,
        [poison, next].map(item => JSON.stringify(item)),
        UNBOUNDED,
      );
      for (let start = 0; start < 5; start++) {
        const context = { job: { source_id: source.id }, jobId: "poison", log: system.worker.log };
        await executeQueuedRuns(system.worker, {
          ...context,
          signal: new AbortController().signal,
          isStopping: () => false,
        } as JobContext<SourceJob>).catch(() => undefined);
      }
      expect(raw(await eventsOf(source, 1))).to.deep.equal([{ n: 1, count: 1 }]);
      expect(await readDrops(system.web, source.id)).to.include({ invalid: 1 });
      await source.api.expect(200, "PUT", `/sources/${source.id}`, { body: { name: "goes on" } });
      expect((await source.api.request("DELETE", `/sources/${source.id}`)).status).to.equal(204);
    });

    it("applies a change before all waiting runs", async () => {
      const hooks = "hooks: { activate() {} },";
      const source = await newSource(
        code(`await fetch(event.url + "/old"); this.$emit({ by: "old", n: event.n });`, hooks),
      );
      const { id } = await source.api.expect(201, "POST", "/components", {
        body: { component_code: code(`this.$emit({ by: "new", n: event.n });`, hooks) },
      });
      receiver.script("hang");
      await enqueue(source.id, numbered(100, { url: receiver.url }));
      await until(() => receiver.hanging() === 1, { what: "the start of the first run" });
      const change = source.api.expect(200, "PUT", `/sources/${source.id}`, { body: { component_id: id } });
      await until(() => system.web.redis.llen(system.web.keys.changeQueue(source.id)), {
        what: "the change in its queue",
      });
      receiver.release();
      await change;
      const events = raw(await eventsOf(source, 100));
      const expected = numbered(100).map(({ n }) => ({ by: n === 0 ? "old" : "new", n }));
      expect(events).to.deep.equal(expected);
    });
  });

  describe("after its worker is killed", () => {
    let victim: WorkerProcess | undefined;
    let runs: RunningWorker | undefined;
    afterEach(async () => {
      victim?.kill("SIGKILL");
      await victim?.ended;
      await stop();
    });
    const start = () => {
      runs = startRuns(system.worker);
    };
    const stop = async () => {
      await runs?.close(3000);
      runs = undefined;
    };

    it("in the middle of a batch, publishes every event exactly once, in order", async () => {
      const source = await newSource(COUNTING);
      let isKilled = false;
      // Kills the worker only once it has executed runs that are not recorded yet: those are executed again.
      const killLate = async ({ path }: Received) => {
        const recorded = await RunRecords(system.web.mongo).countDocuments({ source_id: source.id });
        if (isKilled || Number(path.split("/").at(-1)) <= recorded) return 200;
        isKilled = true;
        victim?.kill("SIGKILL");
        return "hang";
      };
      receiver.script(killLate);
      const runIds = await enqueue(source.id, numbered(40, { url: receiver.url }));
      victim = spawnWorker("runs", { ...environmentOf(system.worker.config), ...ENV });
      expect(await victim.ended).to.equal("SIGKILL");
      start();
      await recordsOf(source.id, runIds);
      const events = await eventsOf(source, 40);
      expect(raw(events)).to.deep.equal(numbered(40).map(({ n }) => ({ n, count: n + 1 })));
      expect(events.map(({ metadata }) => metadata.emit_id)).to.deep.equal(runIds.map(id => `${id}-0`));
      expect(receiver.requests.length, "started runs, some of them twice").to.be.above(40);
    });

    it("repeatedly during the hook of a deletion, deletes the source without the hook", async () => {
      start();
      const source = await newSource(
        code("", `hooks: { async deactivate() { await fetch("${receiver.url}/left"); } },`),
      );
      await stop();
      expect((await source.api.request("DELETE", `/sources/${source.id}`)).status).to.equal(204);
      const { runQueue } = system.web;
      for (let crashes = 0; crashes < 5; crashes++) {
        await until(
          async () =>
            (await runQueue.claim(source.id, leaseToken(`crashed-${crashes}`), 1, 1)).state === "runs",
        );
      }
      start();
      await until(async () => (await Sources(system.web.mongo).exists({ _id: source.id })) === null, {
        what: "the deletion of the source",
      });
      expect(receiver.requests).to.deep.equal([]);
    });
  });
});
