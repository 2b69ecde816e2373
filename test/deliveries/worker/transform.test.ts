import { expect } from "chai";
import { saveFunction } from "../../../src/functions/save-function.ts";
import { Deliveries, TransformedPayloads } from "../../../src/models/delivery.ts";
import { Subscriptions } from "../../../src/models/subscription.ts";
import { Workflows } from "../../../src/models/workflow.ts";
import { openTestPlatform, type TestPlatform } from "../../support/platform.ts";
import { type Receiver, startReceiver } from "../../support/receiver.ts";
import { until } from "../../support/until.ts";
import { emit, OWNER, onlyDelivery, runDrain, type Subscribed, subscribe } from "../fixtures.ts";

describe("a delivery that goes through a function", () => {
  let platform: TestPlatform;
  let receiver: Receiver;
  let listener: Subscribed;
  beforeEach(async () => {
    platform = await openTestPlatform();
    receiver = await startReceiver();
    listener = await subscribe(platform, receiver.url);
  });
  afterEach(async () => {
    await receiver.close();
    await platform.destroy();
  });

  const withFunction = async (code: string) => {
    const functionHash = await saveFunction(platform, OWNER, code);
    await Subscriptions(platform.mongo).updateOne(
      { _id: listener.subscriptionId },
      { $set: { function_hash: functionHash } },
    );
    return { ...listener, functionHash };
  };
  const attempt = () => runDrain(platform, listener.webhookId);
  /** An attempt whose sandbox takes long to start leaves its job, and then finds that drain over: another one sends it. */
  const delivered = () =>
    until(async () => {
      const { state, next_attempt_at_ms } = await onlyDelivery(platform, listener.webhookId);
      if (state === "pending" && (next_attempt_at_ms ?? 0) <= platform.clock()) await attempt();
      return state === "delivered";
    });

  it("goes through it although the subscription was deleted with its emitter", async () => {
    await emit(platform, [await withFunction("export default () => 'changed';")], { secret: 1 });
    await Subscriptions(platform.mongo).deleteMany({});
    await Workflows(platform.mongo).deleteMany({});
    await attempt();
    await delivered();
    expect(receiver.requests.map(({ raw }) => raw)).to.deep.equal(['"changed"']);
  });

  it("is not sent as it is if the code is no longer stored", async () => {
    await emit(platform, [await withFunction("export default () => 'changed again';")], { secret: 1 });
    await platform.mongo.collection("functions").deleteMany({});
    expect(await attempt()).to.include({ retry: 1 });
    const [failed] = (await onlyDelivery(platform, listener.webhookId)).attempts;
    expect(failed?.error).to.equal("function: it is no longer stored");
    expect(receiver.requests).to.have.length(0);
  });

  it("sends what was stored first, whatever the function is by now", async () => {
    const { _id: emit_id } = await emit(platform, [await withFunction("export default () => 'second';")], {});
    const { _id } = await onlyDelivery(platform, listener.webhookId);
    await TransformedPayloads(platform.mongo).insertOne({
      _id,
      emit_id,
      body: '"first"',
      created_at: new Date(),
    });
    await attempt();
    await delivered();
    await Subscriptions(platform.mongo).updateMany({}, { $unset: { function_hash: 1 } });
    await Deliveries(platform.mongo).updateMany({}, { $set: { state: "pending", next_attempt_at_ms: 1 } });
    await attempt();
    await delivered();
    expect(receiver.requests.map(({ raw }) => raw)).to.deep.equal(['"first"', '"first"']);
  });

  it("starts no sandbox for a subscription without one", async () => {
    await emit(platform, [listener], { n: 1 });
    let opened = 0;
    const counting = Object.assign(Object.create(platform), {
      sandboxes: () => {
        opened += 1;
        return platform.sandboxes();
      },
    }) as TestPlatform;
    await runDrain(counting, listener.webhookId);
    expect([receiver.requests.length, opened]).to.deep.equal([1, 0]);
  });
});
