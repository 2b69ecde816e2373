import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { sendTest } from "../../src/deliveries/attempt/send-test.ts";
import { createDestination } from "../../src/destinations/create.ts";
import { deleteDestination } from "../../src/destinations/delete.ts";
import type { RunningWorker } from "../../src/queues/run-worker.ts";
import { start as startDeliveries } from "../../workers/deliveries.ts";
import { deliveriesOf, emit, OWNER, onlyDelivery, webhookOf } from "../deliveries/fixtures.ts";
import { TEST_TLS } from "../egress/test-tls.ts";
import { type AccountRedis, openAccountRedis, PASSWORD } from "../support/account-redis.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { until } from "../support/until.ts";
import { subscribeDestination } from "./fixtures.ts";

describe("deliveries to a stream of Redis", () => {
  let platform: TestPlatform;
  let worker: RunningWorker;
  let redis: AccountRedis;

  before(async () => {
    redis = await openAccountRedis();
    platform = await openTestPlatform(
      { DELIVERY_RETRY_SCHEDULE: "100ms,200ms,300ms,500ms,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s" },
      { process: "deliveries" },
    );
    worker = startDeliveries(platform, { busyFloorMs: 100 });
    await worker.ready();
  });
  after(async () => {
    await worker?.close(5000);
    await platform?.destroy();
    await redis?.close();
  });

  const streamOf = (stream: string, more: object = {}) => ({
    redis_stream: { url: redis.url, password: PASSWORD, stream, ...more },
  });
  const finished = (webhookId: string) =>
    until(async () => {
      const delivery = await onlyDelivery(platform, webhookId);
      return delivery.state !== "pending" && delivery;
    });
  const test = async (settings: object) => {
    const body = streamOf("tested", settings);
    const { id } = await createDestination(platform, { ...body, ownerId: OWNER, userId: OWNER });
    return await sendTest(platform, await webhookOf(platform, id));
  };

  it("adds an event with its ids, its channel and its payload", async () => {
    const listener = await subscribeDestination(platform, streamOf("orders"));
    const event = await emit(platform, [listener], { hello: "wörld" });
    const delivery = await finished(listener.webhookId);
    expect(delivery).to.include({ state: "delivered" });
    expect(delivery.attempts[0]).to.include({ status: 200, error: null });
    expect(await redis.entries("orders")).to.deep.equal([
      {
        id: delivery._id,
        event_id: event.event_id,
        emitter_id: event.emitter_id,
        event_name: "",
        attempt: "1",
        payload: '{"hello":"wörld"}',
      },
    ]);
    expect(delivery.attempts[0]?.response).to.match(/^\d+-\d+$/);
  });

  it("retries after the server was killed, and adds each event under its one id", async () => {
    const listener = await subscribeDestination(platform, streamOf("killed"));
    await emit(platform, [listener], { n: 1 });
    await until(async () => (await redis.entries("killed")).length === 1);
    await redis.kill();
    for (const n of [2, 3, 4]) await emit(platform, [listener], { n });
    await until(async () =>
      (await deliveriesOf(platform, listener.webhookId))
        .slice(1)
        .every(({ attempts }) => attempts.length > 0),
    );
    await redis.start();
    const delivered = await until(async () => {
      const all = await deliveriesOf(platform, listener.webhookId);
      return all.every(({ state }) => state === "delivered") && all;
    });
    const entries = await redis.entries("killed");
    const ids = new Set(entries.map(({ id }) => id));
    expect([...ids].sort()).to.deep.equal(delivered.map(({ _id }) => _id).sort());
    const [, second] = delivered;
    expect(second?.attempts[0]?.error).to.match(/^(connect|reset): /);
  });

  it("keeps the order of the events if the destination is ordered", async () => {
    const listener = await subscribeDestination(platform, { ...streamOf("in-order"), ordered: true });
    for (let n = 0; n < 20; n++) await emit(platform, [listener], { n });
    await until(async () => (await redis.entries("in-order")).length >= 20);
    const numbers = (await redis.entries("in-order")).map(({ payload = "" }) => JSON.parse(payload).n);
    expect(numbers).to.deep.equal([...numbers.keys()]);
  });

  it("cuts the stream to about its length", async () => {
    const result = await test({ stream: "short", max_length: 1 });
    expect(result.error).to.equal(null);
    const client = redis.client();
    for (let i = 0; i < 400; i++) await client.xadd("short", "*", "n", i);
    await test({ stream: "short", max_length: 1 });
    expect(await client.xlen("short")).to.be.below(300);
  });

  it("says what Redis says: a wrong password, another type, a user without the right", async () => {
    const client = redis.client();
    await client.set("a-text", "x");
    await client.acl("SETUSER", "reader", "on", ">reads", "~*", "+@read");
    for (const [settings, error] of [
      [{ password: "wrong" }, /^rejected: WRONGPASS /],
      [{ password: null }, /^rejected: .*(NOAUTH|unauthenticated)/],
      [{ stream: "a-text" }, /^rejected: WRONGTYPE /],
      [{ username: "reader", password: "reads" }, /^rejected: NOPERM /],
      [{ url: `${redis.url}/99` }, /^rejected: ERR DB index is out of range/],
    ] as const) {
      const result = await test(settings);
      expect(result).to.include({ status: null, response: "" });
      expect(result.error).to.match(error);
    }
  });

  it("adds to the database that the url names", async () => {
    const result = await test({ url: `${redis.url}/3`, stream: "third" });
    expect(result.error).to.equal(null);
    expect(await redis.entries("third")).to.deep.equal([]);
    const client = redis.client();
    await client.select(3);
    expect(await client.xlen("third")).to.equal(1);
  });

  it("goes on after a time-out of a server that no longer responds", async () => {
    const slow = await openTestPlatform({ DELIVERY_TIMEOUT: "300ms" }, { process: "web" });
    try {
      const { id } = await createDestination(slow, { ...streamOf("frozen"), ownerId: OWNER, userId: OWNER });
      const send = async () => sendTest(slow, await webhookOf(slow, id));
      expect((await send()).error).to.equal(null);
      redis.freeze();
      const { error } = await send();
      expect(error).to.match(/^timeout: 127\.0\.0\.1:\d+ did not respond within 300 ms$/);
      redis.thaw();
      await until(async () => (await send()).error === null);
    } finally {
      await slow.destroy();
    }
  });

  it("does not reach Headwater's own Redis", async () => {
    const own = platform.redisTarget.servers[0];
    const result = await test({ url: `redis://127.0.0.1:${own?.port}` });
    expect(result.error).to.equal("blocked-address: 127.0.0.1 is not a public address");
  });

  it("uses one connection for a destination, and closes it when the destination is deleted", async () => {
    const { id } = await createDestination(platform, { ...streamOf("one"), ownerId: OWNER, userId: OWNER });
    const client = redis.client();
    const connections = async () =>
      String(await client.client("LIST"))
        .split("\n")
        .filter(Boolean).length;
    await until(async () => platform.lastingConnections.size === 0);
    const before = await connections();
    const destination = await webhookOf(platform, id);
    await Promise.all(Array.from({ length: 20 }, () => sendTest(platform, destination)));
    expect(await connections()).to.equal(before + 1);
    await deleteDestination(platform, id);
    await until(async () => (await connections()) === before);
  });
});

describe("a stream of Redis over TLS", () => {
  let platform: TestPlatform;
  let redis: AccountRedis;
  let folder: string;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "headwater-tls-"));
    for (const [name, text] of Object.entries(TEST_TLS)) writeFileSync(join(folder, name), text);
    redis = await openAccountRedis(port => [
      ...["--tls-port", String(port + 1), "--tls-auth-clients", "no"],
      ...["--tls-cert-file", join(folder, "cert"), "--tls-key-file", join(folder, "key")],
    ]);
    platform = await openTestPlatform({}, { process: "web" });
  });
  after(async () => {
    await platform?.destroy();
    await redis?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const send = async (settings: object) => {
    const url = `rediss://localhost:${redis.port + 1}`;
    const body = { redis_stream: { url, password: PASSWORD, stream: "secured", ...settings } };
    const { id } = await createDestination(platform, { ...body, ownerId: OWNER, userId: OWNER });
    return await sendTest(platform, await webhookOf(platform, id));
  };

  it("verifies the certificate, by the one that the owner trusts if there is one", async () => {
    expect((await send({})).error).to.match(/^tls: TLS with localhost failed: /);
    expect((await send({ ca: TEST_TLS.cert })).error).to.equal(null);
    expect(await redis.entries("secured")).to.have.length(1);
  });
});
