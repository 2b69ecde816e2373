// runs-long: npm test has test/ops/health.test.ts and test/flows/crash.test.ts

import { expect } from "chai";
import { choosePort } from "../../script/lib/ports.mjs";
import { createUser } from "../../src/accounts/users.ts";
import { newId } from "../../src/lib/ids.ts";
import { Deliveries } from "../../src/models/delivery.ts";
import { RunRecords } from "../../src/models/run.ts";
import { openPlatform, type Platform } from "../../src/platform.ts";
import { Api, type SourceView } from "../support/api.ts";
import { type OwnStores, openOwnStores } from "../support/own-stores.ts";
import { testConfig } from "../support/platform.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";
import { environmentOf, spawnWorker, type WorkerProcess, whenReady } from "../workers/worker-process.ts";

const ECHO = `export default { name: "Echo", version: "0.0.1", dedupe: "unique",
  props: { http: "$.interface.http", db: "$.service.db" },
  run(event) {
    this.db.set("seen", (this.db.get("seen") ?? 0) + 1);
    this.$emit({ n: event.body.n }, { id: event.body.n });
  } };`;
const RESPONDING = `export default { name: "Responding", version: "0.0.1",
  props: { http: { type: "$.interface.http", customResponse: true } },
  run(event) { this.http.respond({ status: 201, body: "made" }); } };`;
const HOOKED = `export default { name: "Hooked", version: "0.0.1",
  hooks: { async activate() {} }, run() {} };`;
const TIMER = `export default { name: "Timer", version: "0.0.1",
  props: { timer: { type: "$.interface.timer", default: { intervalSeconds: 86400 } } },
  run(event) { this.$emit(event); } };`;

/** Far above the time of any response, far below a client's own time limit: a longer request hangs. */
const PATIENCE_MS = 8000;
/** Log lines of one process in an outage of seconds, not counting requests; a hot loop writes thousands. */
const FEW_LINES = 60;

/** Between two events of a sender: the workers must keep up, so that the test measures the outage, not a backlog. */
const PAUSE_MS = 30;

/** How long a job is locked: after a longer outage every job is started again. */
const LOCK_MS = 1000;

const REJECTED = "503 problem retry-after";

/** A run that was recorded and whose emission was never enqueued. */
function finishedRun(sourceId: string, event: unknown) {
  const _id = newId("run");
  const emission = { emitter_id: sourceId, emit_id: `${_id}-0`, name: "", event };
  return {
    _id,
    source_id: sourceId,
    owner_id: "u_none",
    kind: "http",
    outcome: "ok",
    duration_ms: 1,
    emitted: 1,
    dropped: {},
    outbox: [JSON.stringify(emission)],
    finished_at: new Date(),
    expires_at: new Date(Date.now() + 3_600_000),
  };
}

const METRICS_TOKEN = "a-token-of-the-test";

describe("a store that goes away", () => {
  let stores: OwnStores;
  let platform: Platform;
  let receiver: Receiver;
  let baseUrl: string;
  let api: Api;
  let echo: SourceView;
  let responding: SourceView;
  const processes = new Map<string, WorkerProcess>();
  let numbers = 0;

  before(async () => {
    stores = await openOwnStores();
    receiver = await startReceiver(200);
    const mongodb = new URL(stores.mongo.url);
    mongodb.pathname = "/outage";
    const config = testConfig({
      MONGODB_URL: mongodb.href,
      REDIS_URL: stores.redis.url,
      TIMEOUTS: `stalled:${LOCK_MS}ms`,
    });
    platform = await openPlatform(config, "runs");
    const port = await choosePort(0);
    const env = {
      ...environmentOf(config),
      PORT: String(port),
      METRICS_TOKEN,
      SWEEP_EVERY: "1s",
      DELIVERY_RETRY_SCHEDULE: Array(20).fill("200ms").join(","),
    };
    for (const name of ["web", "all"]) processes.set(name, spawnWorker(name, env));
    for (const worker of processes.values()) await whenReady(worker);
    baseUrl = `http://127.0.0.1:${port}`;
    const { api_key } = await createUser(platform, { email: "outage@example.test" });
    api = new Api(`${baseUrl}/v1`, api_key);
    echo = await api.createSource({ component_code: ECHO });
    responding = await api.createSource({ component_code: RESPONDING });
    await api.subscribe(echo.id, (await api.createWebhook(receiver.url)).id);
    await api.expect(201, "POST", "/components", { body: { component_code: HOOKED } });
  });

  after(async () => {
    for (const worker of processes.values()) {
      worker.kill("SIGKILL");
      await worker.ended;
    }
    await platform?.close();
    await receiver?.close();
    await stores?.close();
  });

  const post = (source: SourceView, n: number) =>
    fetch(source.configured_props.http?.endpoint_url ?? "", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ n }),
      signal: AbortSignal.timeout(PATIENCE_MS),
    });

  /** Sends events, two at a time, until `stop`, which returns the accepted ones. */
  function sendEvents() {
    const accepted: number[] = [];
    const rejections = new Set<number>();
    let isStopped = false;
    const sender = async () => {
      while (!isStopped) {
        const n = ++numbers;
        const { status } = await post(echo, n);
        if (status === 200) accepted.push(n);
        else rejections.add(status);
        await new Promise(resolve => setTimeout(resolve, PAUSE_MS));
      }
    };
    const senders = Promise.all([sender(), sender()]);
    return {
      accepted,
      rejections,
      async stop() {
        isStopped = true;
        await senders;
        return accepted;
      },
    };
  }

  const received = () => new Set(receiver.requests.map(request => JSON.parse(request.raw).n));

  async function deliveredAll(accepted: number[]): Promise<void> {
    const missing = () => {
      const arrived = received();
      return accepted.filter(n => !arrived.has(n));
    };
    await until(() => missing().length === 0, {
      what: "all accepted events at the webhook",
    }).catch(() => expect(missing(), "accepted and lost").to.deep.equal([]));
    const ids = new Map<number, Set<unknown>>();
    for (const { raw, headers } of receiver.requests) {
      const { n } = JSON.parse(raw);
      ids.set(n, (ids.get(n) ?? new Set()).add(headers["webhook-id"]));
    }
    for (const [n, found] of ids) expect(found.size, `webhook-ids of event ${n}`).to.equal(1);
  }

  async function get(path: string) {
    const headers = { authorization: `Bearer ${METRICS_TOKEN}` };
    const response = await fetch(`${baseUrl}${path}`, { headers, signal: AbortSignal.timeout(PATIENCE_MS) });
    return { status: response.status, body: (await response.json()) as { missing?: string[] } };
  }
  const isReady = () =>
    until(async () => (await get("/readyz")).status === 200, {
      what: "web to be ready again",
    });

  /** Sends one request of each kind; returns a summary of each response, `hung` if none arrived in time. */
  async function requestAll(): Promise<Record<string, string>> {
    const v1 = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
      fetch(`${baseUrl}/v1${path}`, {
        method,
        headers: { authorization: `Bearer ${api.apiKey}`, "content-type": "application/json", ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
    const requests: Record<string, () => Promise<Response>> = {
      ingress: () => post(echo, ++numbers),
      "ingress with a custom response": () => post(responding, 1),
      "a list": () => v1("GET", "/users/me/sources"),
      summaries: () => v1("GET", `/sources/${echo.id}/event_summaries`),
      "a range deletion": () => v1("DELETE", `/sources/${responding.id}/events`),
      "a deployment": () => v1("POST", "/sources", { component_code: HOOKED }),
      "a keyed creation": () =>
        v1("POST", "/webhooks", { url: receiver.url }, { "idempotency-key": String(++numbers) }),
    };
    const outcome = async (request: () => Promise<Response>) => {
      try {
        const response = await request();
        await response.text();
        const isProblem = response.headers.get("content-type")?.startsWith("application/problem+json");
        const retryAfter = response.headers.get("retry-after");
        return `${response.status}${isProblem ? " problem" : ""}${retryAfter ? " retry-after" : ""}`;
      } catch (error) {
        return `hung (${(error as Error).name})`;
      }
    };
    return Object.fromEntries(
      await Promise.all(
        Object.entries(requests).map(async ([name, request]) => [name, await outcome(request)] as const),
      ),
    );
  }

  const SERVED = {
    ingress: "200",
    "ingress with a custom response": "201",
    "a list": "200",
    summaries: "200",
    "a range deletion": "202",
    "a deployment": "201",
    "a keyed creation": "201",
  };
  const allRejected = Object.fromEntries(Object.keys(SERVED).map(name => [name, REJECTED]));

  /** Returns a function that returns the log lines of each process since now, except those of requests. */
  function watchLogs() {
    const from = new Map([...processes].map(([name, worker]) => [name, worker.output().length]));
    return () =>
      [...processes].map(([name, worker]) => ({
        name,
        lines: worker
          .output()
          .slice(from.get(name))
          .split("\n")
          .filter(line => line !== "" && !line.includes('"request_id"')),
      }));
  }
  function expectFewLines(linesSince: ReturnType<typeof watchLogs>): void {
    for (const { name, lines } of linesSince()) {
      expect(lines.length, `lines of ${name}:\n${lines.slice(-5).join("\n")}`).to.be.below(FEW_LINES);
    }
  }

  /** Sends events before, during and after an outage, and waits until every accepted event is delivered. */
  async function surviveOutage(outage: { begin(): unknown; during(): Promise<void>; end(): unknown }) {
    const events = sendEvents();
    const before = received().size;
    await until(() => received().size > before + 20, { what: "events to arrive" });
    await outage.begin();
    await until(() => events.rejections.size > 0, { what: "a rejected request" });
    const linesSince = watchLogs();
    await outage.during();
    expectFewLines(linesSince);
    await outage.end();
    await isReady();
    const accepted = events.accepted.length;
    await until(() => events.accepted.length > accepted + 20, {
      what: "events to be accepted again",
    });
    await deliveredAll(await events.stop());
    expect([...events.rejections]).to.deep.equal([503]);
    expect(await requestAll()).to.deep.equal(SERVED);
    for (const [name, worker] of processes) expect(worker.output(), name).not.to.match(/"msg":"stopping"/);
  }

  it("Redis, before a waiting request first uses it: the request is rejected, not held", async () => {
    await stores.redis.kill();
    expect((await post(responding, 1)).status).to.equal(503);
    await stores.redis.start();
    await isReady();
    await until(async () => (await post(responding, 1)).status === 201);
  });

  it("Redis, killed: nothing accepted is lost, requests are rejected at once, workers recover", () =>
    surviveOutage({
      begin: () => stores.redis.kill(),
      async during() {
        expect(await requestAll()).to.deep.equal({ ...allRejected, "a list": "200" });
        await until(async () => (await get("/readyz")).status === 503);
        expect((await get("/readyz")).body.missing).to.deep.equal(["redis"]);
        expect((await get("/healthz")).status).to.equal(200);
        await locksToExpire();
      },
      end: () => stores.redis.start(),
    }));

  it("Redis, full: /readyz reports it, requests are rejected, and all continues once there is room", () =>
    surviveOutage({
      begin: () => limitMemory(1024 * 1024),
      async during() {
        await until(async () => (await get("/readyz")).body.missing?.[0] === "redis");
        expect((await requestAll()).ingress).to.equal(REJECTED);
        await locksToExpire();
        // Workers that ask again at once would make tens of thousands of rejected commands.
        expect(await rejectedCommands()).to.be.below(1000);
      },
      end: () => limitMemory(0),
    }));

  it("MongoDB, killed: nothing accepted is lost, requests are rejected soon, jobs finish later", () =>
    surviveOutage({
      begin: () => stores.mongo.kill(),
      async during() {
        expect(await requestAll()).to.deep.equal(allRejected);
        await until(async () => (await get("/readyz")).body.missing?.[0] === "mongodb");
        expect((await get("/healthz")).status).to.equal(200);
      },
      end: () => stores.mongo.start(),
    }));

  it("Redis, then MongoDB too, frozen with open connections: requests are rejected soon", () =>
    surviveOutage({
      begin: () => stores.redis.freeze(),
      async during() {
        expect(await requestAll()).to.deep.equal({ ...allRejected, "a list": "200" });
        stores.mongo.freeze();
        expect(await requestAll()).to.deep.equal(allRejected);
      },
      end() {
        stores.redis.thaw();
        stores.mongo.thaw();
      },
    }));

  it("Redis, lost with its data: timers, pending deliveries and unsent emissions are restored", async () => {
    const timer = await api.createSource({ component_code: TIMER });
    const runs = platform.queues.get("runs");
    await until(() => runs?.getJobScheduler(timer.id), { what: "the timer" });
    receiver.script(500);
    const n = ++numbers;
    expect((await post(echo, n)).status).to.equal(200);
    await until(() => received().has(n), { what: "the first attempt" });
    await until(() => Deliveries(platform.mongo).exists({ state: "pending", generation: { $gte: 1 } }));

    const unsent = ++numbers;
    await RunRecords(platform.mongo).insertOne(finishedRun(echo.id, { n: unsent }));
    await server().flushall();

    receiver.script(200);
    const attempts = receiver.requests.length;
    await until(() => receiver.requests.slice(attempts).some(request => JSON.parse(request.raw).n === n), {
      what: "the pending delivery",
    });
    await until(() => runs?.getJobScheduler(timer.id), { what: "the restored timer" });
    await until(() => received().has(unsent), { what: "the emission that was recorded and never enqueued" });
    const next = sendEvents();
    await until(() => next.accepted.length > 20, { what: "sources to accept events" });
    await deliveredAll(await next.stop());
    expect(await requestAll()).to.deep.equal(SERVED);
  });

  async function locksToExpire(): Promise<void> {
    const endAt = Date.now() + 2 * LOCK_MS;
    await until(() => Date.now() > endAt);
  }

  const server = () => {
    if (!("config" in platform.redis)) throw new Error("not a single server");
    return platform.redis;
  };
  const limitMemory = (bytes: number) => server().config("SET", "maxmemory", String(bytes));
  const rejectedCommands = async () =>
    Number(/errorstat_OOM:count=(\d+)/.exec(await server().info("errorstats"))?.[1] ?? 0);
});
