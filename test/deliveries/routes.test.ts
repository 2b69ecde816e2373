import { expect } from "chai";
import { createDeliveries } from "../../src/deliveries/dispatch/create.ts";
import { Deliveries } from "../../src/models/delivery.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { type Api, CALLERS, openWebhookApi } from "../webhooks/webhook-api.ts";
import { deliveriesOf, type Subscribed, storeEvent, subscribe } from "./fixtures.ts";

const ownerId = CALLERS.ann?.userId ?? "";

describe("the deliveries API", () => {
  let platform: TestPlatform;
  let api: Api;
  let endpoint: Receiver;
  let listener: Subscribed;
  let now = 0;

  before(async () => {
    platform = await openTestPlatform({}, { process: "web", clock: () => now });
    api = await openWebhookApi(platform);
    endpoint = await startReceiver(200);
  });
  after(async () => {
    await api.close();
    await endpoint.close();
    await platform.destroy();
  });
  beforeEach(async () => {
    now = Date.now();
    listener = await subscribe(platform, endpoint.url, { ownerId });
  });

  const emitAt = async (atMs: number) => {
    now = atMs;
    const event = await storeEvent(platform, undefined, { owner_id: ownerId });
    await createDeliveries(platform, { event, listeners: [{ ...listener, ownerId }] });
  };
  const list = async (query = "") =>
    (await api.call("GET", `/webhooks/${listener.webhookId}/deliveries${query}`)).body;
  const failed = { state: "failed", reason: "exhausted", next_attempt_at_ms: null, finished_at_ms: 1 };
  const failAll = () =>
    Deliveries(platform.mongo).updateMany({ webhook_id: listener.webhookId }, { $set: failed });

  it("lists a webhook's deliveries newest first, by state and time", async () => {
    const start = now - 10_000;
    for (const second of [0, 1, 2, 3]) await emitAt(start + second * 1000);
    const newest = (await deliveriesOf(platform, listener.webhookId)).map(({ _id }) => _id).reverse();
    const ids = async (query: string) => (await list(query)).data.map((one: { id: string }) => one.id);
    expect(await ids("")).to.deep.equal(newest);
    expect(await ids("?limit=2")).to.deep.equal(newest.slice(0, 2));
    const since = Math.floor(start / 1000) + 2;
    expect(await ids(`?since=${since}`)).to.deep.equal(await idsBetween(since, Number.POSITIVE_INFINITY));
    expect(await ids(`?until=${since - 1}`)).to.deep.equal(await idsBetween(0, since - 1));
    await Deliveries(platform.mongo).updateOne({ _id: newest[1] ?? "" }, { $set: failed });
    expect(await ids("?state=failed")).to.deep.equal([newest[1]]);
    expect((await list("?state=pending")).page_info.total_count).to.equal(3);
  });

  /** Returns the ids of the deliveries of events of these seconds, both inclusive, newest first. */
  const idsBetween = async (since: number, until: number) =>
    (await deliveriesOf(platform, listener.webhookId))
      .filter(({ event_id }) => {
        const second = Math.floor(Number(event_id.split("-")[0]) / 1000);
        return second >= since && second <= until;
      })
      .map(({ _id }) => _id)
      .reverse();

  it("rejects an unknown state by name", async () => {
    const { status, body } = await api.call("GET", `/webhooks/${listener.webhookId}/deliveries?state=lost`);
    expect(status).to.equal(400);
    expect(body.errors[0].path).to.equal("state");
  });

  it("shows a delivery with its attempts", async () => {
    await emitAt(now);
    const [row] = await deliveriesOf(platform, listener.webhookId);
    const attempt = {
      number: 1,
      at_ms: 5,
      trigger: "schedule" as const,
      status: 500,
      latency_ms: 3,
      error: "HTTP status 500",
      response: "oh",
    };
    await Deliveries(platform.mongo).updateOne({ _id: row?._id ?? "" }, { $set: { attempts: [attempt] } });
    const { status, body } = await api.call("GET", `/deliveries/${row?._id}`);
    expect(status).to.equal(200);
    expect(body.data.attempts).to.deep.equal([attempt]);
    expect(body.data).to.deep.include({ attempts_made: 1, last_attempt: attempt, state: "pending" });
    expect(body.data).not.to.have.any.keys("owner_id", "generation", "sweep_at_ms");
  });

  it("retries a delivery now", async () => {
    await emitAt(now);
    await failAll();
    const [row] = await deliveriesOf(platform, listener.webhookId);
    const { status, body } = await api.call("POST", `/deliveries/${row?._id}/retry`);
    expect(status).to.equal(202);
    expect(body.data).to.include({ state: "pending", reason: null, next_attempt_at_ms: now });
  });

  it("retries all failed deliveries since a time, and only counts them with dry_run", async () => {
    const start = Math.floor(now / 1000) - 10;
    for (const second of [0, 1, 2]) await emitAt((start + second) * 1000);
    const since = start + 1;
    await failAll();
    const recover = (dry_run: boolean) =>
      api.call("POST", `/webhooks/${listener.webhookId}/recover`, {
        body: { since, dry_run },
      });
    const progress = () => api.call("GET", `/webhooks/${listener.webhookId}/recover`);
    const counted = await recover(true);
    expect([counted.status, counted.body.data]).to.deep.equal([
      200,
      {
        ...{ count: 2, recovered: 0, state: "counted", since },
        ...{ started_at_ms: null, finished_at_ms: null },
      },
    ]);
    expect((await list("?state=failed")).page_info.total_count).to.equal(3);
    expect((await progress()).status).to.equal(404);
    const started = await recover(false);
    const begun = { count: 2, recovered: 0, state: "running", since, started_at_ms: now };
    expect([started.status, started.body.data]).to.deep.equal([202, { ...begun, finished_at_ms: null }]);
    expect((await list("?state=failed")).page_info.total_count, "left to a worker").to.equal(3);
    expect((await progress()).body).to.deep.equal(started.body);
  });

  it("responds 404 to every other account", async () => {
    await emitAt(now);
    const [row] = await deliveriesOf(platform, listener.webhookId);
    expect((await api.call("GET", `/deliveries/${row?._id}`, { as: "eve" })).status).to.equal(404);
    expect((await api.call("POST", `/deliveries/${row?._id}/retry`, { as: "eve" })).status).to.equal(404);
  });

  it("sends a signed test event now, returns the response, and records nothing", async () => {
    const test = async () => (await api.call("POST", `/webhooks/${listener.webhookId}/test`)).body.data;
    endpoint.script({ status: 418, body: "short and stout" });
    expect(await test()).to.include({ status: 418, error: "HTTP status 418", response: "short and stout" });
    const request = endpoint.requests.at(-1);
    expect(request?.headers["x-headwater-event-name"]).to.equal("$test");
    expect(request?.headers["webhook-signature"]).to.match(/^v1,/);
    expect(JSON.parse(request?.raw ?? "")).to.include({ test: true, webhook_id: listener.webhookId });
    expect((await list()).page_info.total_count).to.equal(0);
    expect((await api.call("GET", `/webhooks/${listener.webhookId}`)).body.data.failing_since).to.equal(null);
  });
});
