import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { sendTest } from "../../src/deliveries/attempt/send.ts";
import { createDestination } from "../../src/destinations/destinations.ts";
import { emit, OWNER, webhookOf } from "../deliveries/fixtures.ts";
import { TEST_TLS } from "../egress/test-tls.ts";
import { type AccountRedis, openAccountRedis, PASSWORD } from "../support/account-redis.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { until } from "../support/until.ts";
import {
  type Delivering,
  finishedDelivery,
  startDelivering,
  subscribeDestination,
  testDestination,
} from "./fixtures.ts";
import { deliversToOwnServer } from "./own-server.ts";

describe("deliveries to a stream of Redis", () => {
  let delivering: Delivering;
  let platform: TestPlatform;
  let redis: AccountRedis;
  let lister: ReturnType<AccountRedis["client"]> | undefined;

  before(async () => {
    redis = await openAccountRedis();
    delivering = await startDelivering(["100ms", "200ms", "300ms", "500ms", ...Array(12).fill("1s")]);
    platform = delivering.platform;
  });
  after(async () => {
    await delivering?.close();
    await redis?.close();
  });

  const streamOf = (stream: string, more: object = {}) => ({
    redis_stream: { url: redis.url, password: PASSWORD, stream, ...more },
  });
  const test = (settings: object) => testDestination(platform, streamOf("tested", settings));

  it("adds an event with its ids, its channel and its payload", async () => {
    const listener = await subscribeDestination(platform, streamOf("orders"));
    const event = await emit(platform, [listener], { hello: "wörld" });
    const delivery = await finishedDelivery(platform, listener.webhookId);
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
    const slow = await openTestPlatform({ TIMEOUTS: "attempt:300ms" }, { process: "web" });
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

  deliversToOwnServer(() => ({
    platform,
    destinationAt: async stream => streamOf(stream),
    received: async stream =>
      (await redis.entries(stream)).map(({ id = "", payload = "" }) => ({ id, body: payload })),
    kill: redis.kill,
    start: redis.start,
    async connections() {
      lister ??= redis.client();
      const list = String(await lister.client("LIST"));
      return list.split("\n").filter(Boolean).length;
    },
  }));
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
    return await testDestination(platform, body);
  };

  it("verifies the certificate, by the one that the owner trusts if there is one", async () => {
    expect((await send({})).error).to.match(/^tls: TLS with localhost failed: /);
    expect((await send({ ca: TEST_TLS.cert })).error).to.equal(null);
    expect(await redis.entries("secured")).to.have.length(1);
  });
});
