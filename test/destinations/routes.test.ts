import { expect } from "chai";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { Webhooks } from "../../src/models/webhook.ts";
import { PASSWORD } from "../support/account-redis.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { type Api, CALLERS, openWebhookApi } from "../webhooks/webhook-api.ts";

const STREAM = { url: "rediss://redis.example.com:6380/2", stream: "orders" };

describe("the destinations API", () => {
  let platform: TestPlatform;
  let api: Api;

  before(async () => {
    platform = await openTestPlatform({ EGRESS_ALLOW: "" }, { process: "web" });
    api = await openWebhookApi(platform);
  });
  after(async () => {
    await api?.close();
    await platform?.destroy();
  });

  const create = async (body: object) => {
    const response = await api.call("POST", "/destinations", { body });
    expect(response.status, JSON.stringify(response.body)).to.equal(201);
    return response.body.data;
  };
  const stored = (id: string) => Webhooks(platform.mongo).findById(id).lean();

  it("creates a destination and shows it without its password", async () => {
    const created = await create({ name: "orders", redis_stream: { ...STREAM, password: PASSWORD } });
    expect(created).to.include({
      kind: "redis_stream",
      url: STREAM.url,
      user_id: CALLERS.ann?.userId,
      name: "orders",
      active: true,
      ordered: false,
    });
    expect(created.id).to.match(/^ds_[A-Za-z0-9]{16}$/);
    expect(created.redis_stream).to.deep.equal({
      ...STREAM,
      username: null,
      has_password: true,
      max_length: 100_000,
      ca: null,
    });
    const shown = await api.call("GET", `/destinations/${created.id}`);
    expect(shown.body.data).to.deep.equal(created);
    expect(JSON.stringify([created, await stored(created.id)])).not.to.include(PASSWORD);
  });

  it("separates user name and password from the url", async () => {
    const url = `redis://user:${encodeURIComponent("p@ss/word")}@redis.example.com`;
    const created = await create({ redis_stream: { url, stream: "orders" } });
    expect(created.url).to.equal("redis://redis.example.com");
    expect(created.redis_stream).to.include({ username: "user", has_password: true });
    expect(JSON.stringify([created, await stored(created.id)])).not.to.match(/p@ss|p%40ss/);
  });

  it("rejects what is wrong by the name of its field, and shows no secret", async () => {
    const given = (settings: object) => ({ redis_stream: { ...STREAM, ...settings } });
    for (const [body, path] of [
      [{ redis_stream: { stream: "x" } }, "redis_stream.url"],
      [{ redis_stream: { url: STREAM.url } }, "redis_stream.stream"],
      [given({ url: "https://example.com" }), "redis_stream.url"],
      [given({ url: "redis://:s3cret@10.0.0.1" }), "redis_stream.url"],
      [given({ url: "redis://:s3cret@localhost" }), "redis_stream.url"],
      [given({ url: "redis://:s3cret@[::1]:6379" }), "redis_stream.url"],
      [given({ url: "redis://:s3cret@2130706433" }), "redis_stream.url"],
      [given({ url: "redis://:s3cret@0x7f.1" }), "redis_stream.url"],
      [given({ url: "redis://:s3cret@example.com/x" }), "redis_stream.url"],
      [given({ url: "redis://:s3cret@example.com?db=1" }), "redis_stream.url"],
      [given({ url: "redis://:s3cret@example.com:0" }), "redis_stream.url"],
      [given({ url: "redis:///1" }), "redis_stream.url"],
      [given({ url: "redis://:s3cret@example.com\r\n" }), "redis_stream.url"],
      [given({ url: "redis://:s3cret@exam\tple.com" }), "redis_stream.url"],
      [given({ url: "redis://:s3cret@example.com/1 " }), "redis_stream.url"],
      [given({ max_length: 0 }), "redis_stream.max_length"],
      [given({ ca: "ü".repeat(LIMITS.destinationSettingsBytes.value / 2) }), "redis_stream"],
      [given({ wrong: 1 }), "redis_stream.wrong"],
      [{ ...given({}), ordered: "x" }, "ordered"],
      [{ ...given({}), kind: "redis_stream" }, "kind"],
    ] as const) {
      const { status, body: problem } = await api.call("POST", "/destinations", { body });
      expect(status, JSON.stringify(body)).to.equal(400);
      expect(problem.errors.map((one: { path: string }) => one.path)).to.deep.equal([path]);
      expect(JSON.stringify(problem)).not.to.include("s3cret");
    }
  });

  it("asks for the settings of exactly one kind", async () => {
    const none = await api.call("POST", "/destinations", { body: {} });
    expect(none.status).to.equal(400);
    expect(none.body.detail).to.match(/^one of redis_stream, rabbitmq, s3.* is required$/);
    const queue = { url: "amqp://example.com", queue: "orders" };
    const both = await api.call("POST", "/destinations", { body: { redis_stream: STREAM, rabbitmq: queue } });
    expect(both.body.errors.map((one: { path: string }) => one.path)).to.deep.equal(["rabbitmq"]);
    const { id } = await create({ rabbitmq: queue });
    const changed = await api.call("PUT", `/destinations/${id}`, { body: { redis_stream: { stream: "x" } } });
    expect(changed.body.errors.map((one: { path: string }) => one.path)).to.deep.equal(["redis_stream"]);
  });

  it("checks where a queue and a bucket are", async () => {
    const queue = { url: "amqps://user:s3cret@example.com/%2Fhost", queue: "orders" };
    const bucket = {
      url: "https://example.com/bucket",
      region: "eu-1",
      access_key_id: "id",
      secret_access_key: "s3cret",
    };
    for (const [body, path] of [
      [{ rabbitmq: { ...queue, queue: null } }, "rabbitmq.queue"],
      [{ rabbitmq: { ...queue, exchange: "events" } }, "rabbitmq.exchange"],
      [{ rabbitmq: { ...queue, routing_key: "a" } }, "rabbitmq.routing_key"],
      [{ rabbitmq: { ...queue, queue: "ü".repeat(200) } }, "rabbitmq.queue"],
      [{ rabbitmq: { ...queue, url: "amqp://user:s3cret@192.168.0.1" } }, "rabbitmq.url"],
      [{ s3: { ...bucket, url: "https://id:s3cret@example.com/bucket" } }, "s3.url"],
      [{ s3: { ...bucket, url: "http://169.254.169.254/bucket" } }, "s3.url"],
      [{ s3: { ...bucket, url: "https://example.com/bucket?x=1" } }, "s3.url"],
      [{ rabbitmq: { ...queue, url: "amqp://user:s3cret@example.com/\0" } }, "rabbitmq.url"],
      [{ rabbitmq: { ...queue, url: " amqp://user:s3cret@example.com" } }, "rabbitmq.url"],
      [{ s3: { ...bucket, url: "https://example.com/bucket\n" } }, "s3.url"],
      [{ s3: { ...bucket, url: "https://example.com/buck\tet" } }, "s3.url"],
      [{ s3: { ...bucket, region: "a b" } }, "s3.region"],
      [{ s3: { ...bucket, key: "events.json" } }, "s3.key"],
    ] as const) {
      const { status, body: problem } = await api.call("POST", "/destinations", { body });
      expect(status, JSON.stringify(body)).to.equal(400);
      expect(problem.errors.map((one: { path: string }) => one.path)).to.deep.equal([path]);
      expect(JSON.stringify(problem)).not.to.include("s3cret");
    }
    const shown = [await create({ rabbitmq: queue }), await create({ s3: bucket })];
    expect(shown.map(({ kind, url }) => [kind, url])).to.deep.equal([
      ["rabbitmq", "amqps://example.com/%2Fhost"],
      ["s3", "https://example.com/bucket"],
    ]);
    expect(JSON.stringify(shown)).not.to.include("s3cret");
  });

  it("changes the settings that are given, and keeps the others", async () => {
    const { id } = await create({ redis_stream: { ...STREAM, password: PASSWORD, max_length: 5 } });
    const change = async (body: object) => (await api.call("PUT", `/destinations/${id}`, { body })).body.data;
    const changed = await change({ name: "renamed", redis_stream: { stream: "other" } });
    expect(changed).to.deep.include({ name: "renamed" });
    expect(changed.redis_stream).to.include({ stream: "other", max_length: 5, has_password: true });
    expect((await change({ redis_stream: { password: null } })).redis_stream.has_password).to.equal(false);
  });

  it("forgets the password when the url changes, unless it is given again", async () => {
    const { id } = await create({ redis_stream: { ...STREAM, password: PASSWORD } });
    const change = async (redis_stream: object) =>
      (await api.call("PUT", `/destinations/${id}`, { body: { redis_stream } })).body.data.redis_stream;
    expect((await change({ url: STREAM.url })).has_password).to.equal(true);
    expect((await change({ url: "redis://elsewhere.example.com" })).has_password).to.equal(false);
    const again = { url: STREAM.url, password: PASSWORD };
    expect((await change(again)).has_password).to.equal(true);
  });

  it("keeps webhooks and destinations apart", async () => {
    const destination = await create({ redis_stream: STREAM });
    const url = encodeURIComponent("https://example.com/hook");
    const webhook = (await api.call("POST", `/webhooks?url=${url}`)).body.data;
    for (const [method, path] of [
      ["GET", `/webhooks/${destination.id}`],
      ["PUT", `/webhooks/${destination.id}`],
      ["DELETE", `/webhooks/${destination.id}`],
      ["POST", `/webhooks/${destination.id}/rotate_signing_key`],
      ["GET", `/webhooks/${destination.id}/deliveries`],
      ["GET", `/destinations/${webhook.id}`],
      ["DELETE", `/destinations/${webhook.id}`],
    ] as const) {
      const { status } = await api.call(method, path, method === "PUT" ? { body: {} } : {});
      expect(status, `${method} ${path}`).to.equal(404);
    }
    const idsOf = async (path: string) =>
      (await api.call("GET", `/users/me/${path}?limit=100`)).body.data.map((one: { id: string }) => one.id);
    expect(await idsOf("webhooks"))
      .to.include(webhook.id)
      .and.not.include(destination.id);
    expect(await idsOf("destinations"))
      .to.include(destination.id)
      .and.not.include(webhook.id);
  });

  it("hides a destination from other accounts", async () => {
    const { id } = await create({ redis_stream: STREAM });
    for (const [method, path] of [
      ["GET", `/destinations/${id}`],
      ["DELETE", `/destinations/${id}`],
      ["POST", `/destinations/${id}/test`],
      ["GET", `/destinations/${id}/deliveries`],
      ["GET", `/destinations/${id}/recover`],
    ] as const) {
      expect((await api.call(method, path, { as: "eve" })).status, path).to.equal(404);
    }
  });

  it("tests a destination, lists its deliveries and deletes it", async () => {
    const { id } = await create({ redis_stream: { ...STREAM, url: "redis://absent.invalid" } });
    const tested = await api.call("POST", `/destinations/${id}/test`);
    expect(tested.body.data).to.include({ status: null, response: "" });
    expect(tested.body.data.error).to.match(/^dns: absent\.invalid /);
    expect((await api.call("GET", `/destinations/${id}/deliveries`)).body.data).to.deep.equal([]);
    const counted = await api.call("POST", `/destinations/${id}/recover`, {
      body: { since: 1, dry_run: true },
    });
    expect(counted).to.deep.include({ status: 200 });
    expect(counted.body.data).to.include({ count: 0, state: "counted" });
    expect((await api.call("GET", `/destinations/${id}/recover`)).status).to.equal(404);
    expect((await api.call("DELETE", `/destinations/${id}`)).status).to.equal(204);
    expect((await api.call("GET", `/destinations/${id}`)).status).to.equal(404);
  });
});
