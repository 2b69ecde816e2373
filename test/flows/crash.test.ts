import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { expect } from "chai";
import { createUser } from "../../src/accounts/users.ts";
import { openPlatform, type Platform } from "../../src/platform.ts";
import { Api, type SourceView } from "../support/api.ts";
import { dropKeys, testConfig } from "../support/platform.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";
import { environmentOf, spawnWorker, type WorkerProcess, whenReady } from "../workers/worker-process.ts";

const CODE = `export default { name: "Counter", version: "0.0.1", dedupe: "unique",
  props: { http: "$.interface.http", db: "$.service.db" },
  run(event) {
    this.db.set("seen", (this.db.get("seen") ?? 0) + 1);
    this.$emit({ n: event.body.n }, { id: event.body.n });
  } };`;

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise(resolve => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise(resolve => server.close(resolve));
  return port;
}

describe("processes that are killed", () => {
  let platform: Platform;
  let receiver: Receiver;
  let api: Api;
  let env: Record<string, string>;
  const running = new Map<string, WorkerProcess>();

  const start = async (name: string) => {
    const child = spawnWorker(name, env);
    running.set(name, child);
    await whenReady(child);
  };
  const kill = async (name: string) => {
    const child = running.get(name);
    running.delete(name);
    child?.kill("SIGKILL");
    await child?.ended;
  };
  const send = (source: SourceView, n: number) =>
    fetch(source.configured_props.http?.endpoint_url ?? "", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ n }),
    });

  beforeEach(async () => {
    const config = testConfig({ STALLED_AFTER: "1s", SWEEP_EVERY: "1s" });
    platform = await openPlatform(config, "runs");
    const port = await freePort();
    env = {
      ...environmentOf(config),
      PORT: String(port),
      SWEEP_EVERY: "1s",
      DELIVERY_RETRY_SCHEDULE: "100ms,100ms,100ms",
    };
    receiver = await startReceiver(200);
    const { api_key } = await createUser(platform, { email: "crash@example.test" });
    api = new Api(`http://127.0.0.1:${port}/v1`, api_key);
  });
  afterEach(async () => {
    for (const name of [...running.keys()]) await kill(name);
    await receiver.close();
    await platform.mongo.dropDatabase();
    await dropKeys(platform);
    await platform.close();
  });

  const subscribed = async () => {
    const source = await api.createSource({ component_code: CODE });
    await api.subscribe(source.id, (await api.createWebhook(receiver.url)).id);
    return source;
  };

  it("lose nothing if each is killed after its step, before the next one starts", async () => {
    await start("web");
    const source = await subscribed();
    expect((await send(source, 1)).status).to.equal(200);
    await kill("web");

    await start("runs");
    await until(async () => (await platform.queues.get("emissions")?.getWaitingCount()) === 1, {
      what: "the emission",
    });
    await kill("runs");

    await start("emissions");
    await until(async () => (await platform.queues.get("deliveries")?.getWaitingCount()) === 1, {
      what: "the delivery",
    });
    await kill("emissions");

    await start("deliveries");
    await until(() => receiver.requests.length === 1, { what: "the request" });
    expect(JSON.parse(receiver.requests[0]?.raw ?? "")).to.deep.equal({ n: 1 });
  });

  it("lose no published event whose 202 was sent, and deliver it under one webhook-id", async () => {
    await start("web");
    const { id } = await api.expect(201, "POST", "/workflows", { body: { name: "Flow" } });
    await api.subscribe(id, (await api.createWebhook(receiver.url)).id);
    const publish = (event: number) =>
      api.expect(202, "POST", `/workflows/${id}/events`, { body: { event, id: `order-${event}` } });
    await publish(1);
    await kill("web");

    await start("emissions");
    await until(async () => (await platform.queues.get("deliveries")?.getWaitingCount()) === 1, {
      what: "the delivery",
    });
    await kill("emissions");
    await start("web");
    // As a caller does that did not see the response.
    await publish(1);
    await publish(2);
    // Before it starts: its first request may arrive before it has said that it is ready.
    let isKilled = false;
    receiver.script(() => {
      if (isKilled) return 200;
      isKilled = true;
      running.get("deliveries")?.kill("SIGKILL");
      return 200;
    });
    await start("emissions");
    running.set("deliveries", spawnWorker("deliveries", env));
    await until(() => isKilled, { what: "a request" });
    await running.get("deliveries")?.ended;
    await start("deliveries");
    const idsOf = (raw: string) =>
      receiver.requests.filter(request => request.raw === raw).map(({ headers }) => headers["webhook-id"]);
    await until(() => idsOf("1").length > 0 && idsOf("2").length > 0, { what: "both events" });
    expect(new Set([...idsOf("1"), ...idsOf("2")]).size, "one webhook-id for each event").to.equal(2);
  });
});
