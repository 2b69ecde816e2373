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

/** Far above any answer, far below a client's own patience: what takes longer has hung. */
const PATIENCE_MS = 8000;
/** Lines of one process in an outage of seconds, beside those of requests; a hot loop writes thousands. */
const FEW_LINES = 40;

/** Between two events of a lane: the workers keep up, so that what is measured is the outage and no backlog. */
const PAUSE_MS = 30;

/** How long a job is locked: an outage that lasts longer makes each job be given out again. */
const LOCK_MS = 1000;

const REFUSED = "503 problem retry-after";

/** A run that was recorded and whose emission never came to its queue. */
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
  };
}

describe("a store that goes away", function () {
  this.timeout(60_000);
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
      STALLED_AFTER: `${LOCK_MS}ms`,
    });
    platform = await openPlatform(config, "runs");
    const port = await choosePort(0);
    const env = {
      ...environmentOf(config),
      PORT: String(port),
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

  /** Sends events without end, a few at a time. `stop` answers those that were accepted. */
  function flow() {
    const accepted: number[] = [];
    const refusals = new Set<number>();
    let isGoing = true;
    const lane = async () => {
      while (isGoing) {
        const n = ++numbers;
        const { status } = await post(echo, n);
        if (status === 200) accepted.push(n);
        else refusals.add(status);
        await new Promise(resolve => setTimeout(resolve, PAUSE_MS));
      }
    };
    const lanes = Promise.all([lane(), lane()]);
    return {
      accepted,
      refusals,
      async stop() {
        isGoing = false;
        await lanes;
        return accepted;
      },
    };
  }

  const received = () => new Set(receiver.requests.map(request => JSON.parse(request.raw).n));

  async function deliveredAll(accepted: number[]): Promise<void> {
    const missing = () => {
      const there = received();
      return accepted.filter(n => !there.has(n));
    };
    await until(() => missing().length === 0, {
      timeoutMs: 25_000,
      what: "all accepted at the webhook",
    }).catch(() => expect(missing(), "accepted and lost").to.deep.equal([]));
    const ids = new Map<number, Set<unknown>>();
    for (const { raw, headers } of receiver.requests) {
      const { n } = JSON.parse(raw);
      ids.set(n, (ids.get(n) ?? new Set()).add(headers["webhook-id"]));
    }
    for (const [n, found] of ids) expect(found.size, `webhook-ids of event ${n}`).to.equal(1);
  }

  async function ask(path: string) {
    const answer = await fetch(`${baseUrl}${path}`, { signal: AbortSignal.timeout(PATIENCE_MS) });
    return { status: answer.status, body: (await answer.json()) as { missing?: string[] } };
  }
  const isReady = () =>
    until(async () => (await ask("/readyz")).status === 200, { timeoutMs: 20_000, what: "ready again" });

  /** One request of each kind; what came of it, `hung` for none in time. */
  async function knock(): Promise<Record<string, string>> {
    const v1 = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
      fetch(`${baseUrl}/v1${path}`, {
        method,
        headers: { authorization: `Bearer ${api.apiKey}`, "content-type": "application/json", ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
    const requests: Record<string, () => Promise<Response>> = {
      ingress: () => post(echo, ++numbers),
      "ingress that answers": () => post(responding, 1),
      "a list": () => v1("GET", "/users/me/sources"),
      summaries: () => v1("GET", `/sources/${echo.id}/event_summaries`),
      "a range deletion": () => v1("DELETE", `/sources/${responding.id}/events`),
      "a deployment": () => v1("POST", "/sources", { component_code: HOOKED }),
      "a keyed creation": () =>
        v1("POST", "/webhooks", { url: receiver.url }, { "idempotency-key": String(++numbers) }),
    };
    const outcome = async (request: () => Promise<Response>) => {
      try {
        const answer = await request();
        await answer.text();
        const isProblem = answer.headers.get("content-type")?.startsWith("application/problem+json");
        const again = answer.headers.get("retry-after");
        return `${answer.status}${isProblem ? " problem" : ""}${again ? " retry-after" : ""}`;
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
    "ingress that answers": "201",
    "a list": "200",
    summaries: "200",
    "a range deletion": "202",
    "a deployment": "201",
    "a keyed creation": "201",
  };
  const allRefused = Object.fromEntries(Object.keys(SERVED).map(name => [name, REFUSED]));

  /** What the processes wrote from now on that is not of a request. */
  function listen() {
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
  function fewLines(heard: ReturnType<typeof listen>): void {
    for (const { name, lines } of heard()) {
      expect(lines.length, `lines of ${name}:\n${lines.slice(-5).join("\n")}`).to.be.below(FEW_LINES);
    }
  }

  /** Lets events flow, takes a store away until all has noticed, gives it back, and waits for what was accepted. */
  async function through(outage: { begin(): unknown; during(): Promise<void>; end(): unknown }) {
    const events = flow();
    const before = received().size;
    await until(() => received().size > before + 20, { what: "events to flow" });
    await outage.begin();
    await until(() => events.refusals.size > 0, { what: "a refusal" });
    const heard = listen();
    await outage.during();
    fewLines(heard);
    await outage.end();
    await isReady();
    const accepted = events.accepted.length;
    await until(() => events.accepted.length > accepted + 20, {
      timeoutMs: 20_000,
      what: "events to flow again",
    });
    await deliveredAll(await events.stop());
    expect([...events.refusals]).to.deep.equal([503]);
    expect(await knock()).to.deep.equal(SERVED);
    for (const [name, worker] of processes) expect(worker.output(), name).not.to.match(/"msg":"stopping"/);
  }

  it("Redis, before its first use by a waiting request: that one is refused, not held", async () => {
    await stores.redis.kill();
    expect((await post(responding, 1)).status).to.equal(503);
    await stores.redis.start();
    await isReady();
    await until(async () => (await post(responding, 1)).status === 201);
  });

  it("Redis, killed: nothing accepted is lost, requests are refused at once, workers recover by themselves", () =>
    through({
      begin: () => stores.redis.kill(),
      async during() {
        expect(await knock()).to.deep.equal({ ...allRefused, "a list": "200" });
        expect(await ask("/readyz")).to.deep.include({ status: 503 });
        expect((await ask("/readyz")).body.missing).to.deep.equal(["redis"]);
        expect((await ask("/healthz")).status).to.equal(200);
        await locksToEnd();
      },
      end: () => stores.redis.start(),
    }));
  it("Redis, full: said by /readyz, requests are refused, and all goes on once there is room", () =>
    through({
      begin: () => limitMemory(1024 * 1024),
      async during() {
        expect((await ask("/readyz")).body.missing).to.deep.equal(["redis"]);
        expect((await knock()).ingress).to.equal(REFUSED);
        await locksToEnd();
        // Each refused command is one; workers that ask again at once make tens of thousands.

        expect(await refusedCommands()).to.be.below(1000);
      },
      end: () => limitMemory(0),
    }));

  it("MongoDB, killed: nothing accepted is lost, requests are refused soon, jobs finish later", () =>
    through({
      begin: () => stores.mongo.kill(),
      async during() {
        expect(await knock()).to.deep.equal(allRefused);
        expect((await ask("/readyz")).body.missing).to.deep.equal(["mongodb"]);
        expect((await ask("/healthz")).status).to.equal(200);
      },
      end: () => stores.mongo.start(),
    }));

  it("Redis, then MongoDB too, hanging with its connections open: requests are refused soon", () =>
    through({
      begin: () => stores.redis.freeze(),
      async during() {
        expect(await knock()).to.deep.equal({ ...allRefused, "a list": "200" });
        stores.mongo.freeze();
        expect(await knock()).to.deep.equal(allRefused);
      },
      end() {
        stores.redis.thaw();
        stores.mongo.thaw();
      },
    }));

  it("Redis, lost with its data: timers, pending deliveries and unsent emissions come back", async () => {
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
    await until(() => runs?.getJobScheduler(timer.id), { what: "the timer again" });
    await until(() => received().has(unsent), { what: "the emission that was recorded and never enqueued" });
    const next = flow();
    await until(() => next.accepted.length > 20, { what: "sources to go on" });
    await deliveredAll(await next.stop());
    expect(await knock()).to.deep.equal(SERVED);
  });

  async function locksToEnd(): Promise<void> {
    const endAt = Date.now() + 2 * LOCK_MS;
    await until(() => Date.now() > endAt);
  }

  const server = () => {
    if (!("config" in platform.redis)) throw new Error("not a single server");
    return platform.redis;
  };
  const limitMemory = (bytes: number) => server().config("SET", "maxmemory", String(bytes));
  const refusedCommands = async () =>
    Number(/errorstat_OOM:count=(\d+)/.exec(await server().info("errorstats"))?.[1] ?? 0);
});
