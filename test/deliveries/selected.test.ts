import { expect } from "chai";
import { createDeliveries } from "../../src/deliveries/dispatch/create.ts";
import { newId } from "../../src/lib/ids.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { Deliveries } from "../../src/models/delivery.ts";
import { readDrops } from "../../src/store/events/drops.ts";
import { updateWebhook } from "../../src/webhooks/webhooks.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { type Api, CALLERS, openWebhookApi } from "../webhooks/webhook-api.ts";
import {
  deliveriesOf,
  EMITTER,
  runDrain,
  type Subscribed,
  storeEvent,
  subscribe,
  webhookOf,
} from "./fixtures.ts";

const ownerId = CALLERS.ann?.userId ?? "";

describe("several deliveries by their ids", () => {
  let platform: TestPlatform;
  let api: Api;
  let endpoint: Receiver;
  let listener: Subscribed;
  let now = 0;

  before(async () => {
    platform = await openTestPlatform(
      { DELIVERY_RETRY_SCHEDULE: "1h" },
      { process: "deliveries", clock: () => now },
    );
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
    endpoint.requests.length = 0;
    listener = await subscribe(platform, endpoint.url, { ownerId });
  });

  const rows = () => deliveriesOf(platform, listener.webhookId);
  const stateOf = async (id: string | undefined) => (await rows()).find(({ _id }) => _id === id)?.state;
  const attempt = () => runDrain(platform, listener.webhookId);

  /** Makes as many pending deliveries; returns their ids. */
  async function make(count: number): Promise<string[]> {
    for (let n = 0; n < count; n++) {
      const event = await storeEvent(platform, undefined, { owner_id: ownerId });
      await createDeliveries(platform, { event, listeners: [{ ...listener, ownerId }] });
    }
    return (await rows()).map(({ _id }) => _id);
  }
  const fail = (...ids: string[]) =>
    Deliveries(platform.mongo).updateMany(
      { _id: { $in: ids } },
      { $set: { state: "failed", reason: "exhausted", next_attempt_at_ms: null, sweep_at_ms: null } },
    );
  const act = async (what: "retry" | "cancel", ids: unknown, as = "ann") =>
    await api.call("POST", `/deliveries/${what}`, { as, body: { ids } });
  const resultsOf = async (what: "retry" | "cancel", ids: unknown, as?: string) => {
    const { status, body } = await act(what, ids, as);
    expect(status).to.equal(what === "retry" ? 202 : 200);
    return [body.data.done, ...body.data.results.map((one: { result: string }) => one.result)];
  };

  it("are retried, and the response says of each what became of it, in their order", async () => {
    const [first = "", second = ""] = await make(2);
    await fail(first, second);
    const [unknown, gone] = [newId("dlv"), second];
    await Deliveries(platform.mongo).updateOne({ _id: gone }, { $set: { emit_id: "gone" } });
    const { status, body } = await act("retry", [unknown, first, gone, first]);
    expect(status).to.equal(202);
    expect(body.data).to.deep.equal({
      done: 1,
      results: [
        { id: unknown, result: "not-found", reason: null },
        { id: first, result: "done", reason: null },
        { id: gone, result: "conflict", reason: "the event is no longer kept" },
      ],
    });
    expect([await stateOf(first), await stateOf(gone)]).to.deep.equal(["pending", "failed"]);
    await attempt();
    expect(await stateOf(first)).to.equal("delivered");
  });

  it("are cancelled while they are pending, are counted as dropped, and are not sent", async () => {
    const [first = "", second = "", third = ""] = await make(3);
    await fail(third);
    const before = (await readDrops(platform, EMITTER)).cancelled ?? 0;
    const { body } = await act("cancel", [first, third]);
    expect(body.data.results).to.deep.equal([
      { id: first, result: "done", reason: null },
      { id: third, result: "conflict", reason: "it is failed already" },
    ]);
    expect(await resultsOf("cancel", [first]), "again").to.deep.equal([1, "done"]);
    expect((await readDrops(platform, EMITTER)).cancelled, "counted once").to.equal(before + 1);
    await attempt();
    expect(endpoint.requests.map(({ headers }) => headers["webhook-id"])).to.deep.equal([second]);
    const cancelled = (await rows()).find(({ _id }) => _id === first);
    expect(cancelled).to.include({ state: "cancelled", reason: "by-request", next_attempt_at_ms: null });
    expect(await resultsOf("retry", [first]), "retried all the same").to.deep.equal([1, "done"]);
  });

  it("log the attempt that was in flight when they were cancelled, and ignore its result", async () => {
    const [id = ""] = await make(1);
    endpoint.script(async () => {
      await resultsOf("cancel", [id]);
      return 500;
    });
    await attempt();
    const [row] = await rows();
    expect(row).to.include({ state: "cancelled", reason: "by-request" });
    expect(row?.attempts.map(({ status }) => status)).to.deep.equal([500]);
  });

  it("make way at an ordered webhook once they are cancelled", async () => {
    await updateWebhook(platform, await webhookOf(platform, listener.webhookId), { ordered: true });
    await make(2);
    // Ids of one millisecond are in no order.
    const inOrder = (await rows()).sort((a, b) => a.event_score - b.event_score);
    const [first = "", second = ""] = inOrder.map(({ _id }) => _id);
    endpoint.script(500, 200);
    // In order, an event is sent once it has settled.
    now += 1000;
    await attempt();
    expect(endpoint.requests, "the first one").to.have.length(1);
    expect(await stateOf(second), "behind the one that failed").to.equal("pending");
    expect(await resultsOf("cancel", [first])).to.deep.equal([1, "done"]);
    now += 2000;
    await attempt();
    expect(await stateOf(second)).to.equal("delivered");
  });

  it("are not found by another account", async () => {
    const [id = ""] = await make(1);
    for (const what of ["retry", "cancel"] as const) {
      expect(await resultsOf(what, [id], "eve")).to.deep.equal([0, "not-found"]);
    }
    expect(await stateOf(id)).to.equal("pending");
  });

  it("are at most as many as the limit", async () => {
    const ids = Array.from({ length: LIMITS.deliveriesSelected.value + 1 }, () => newId("dlv"));
    expect((await act("retry", ids)).status).to.equal(400);
    expect((await act("cancel", [])).status).to.equal(400);
    expect(await resultsOf("cancel", ids.slice(1, 3))).to.deep.equal([0, "not-found", "not-found"]);
  });
});
