import { expect } from "chai";
import { makeNextAttempt } from "../../../src/deliveries/worker/next-attempt.ts";
import { Deliveries } from "../../../src/models/delivery.ts";
import { Webhooks } from "../../../src/models/webhook.ts";
import { openTestPlatform, type TestPlatform } from "../../support/platform.ts";
import { type Receiver, startReceiver } from "../../support/receiver.ts";
import { until } from "../../support/until.ts";
import { deliveriesOf, emit, openShared, type Subscribed, subscribe } from "../fixtures.ts";

describe("a later attempt", () => {
  let platform: TestPlatform;
  let endpoint: Receiver;
  let listener: Subscribed;

  beforeEach(async () => {
    platform = await openTestPlatform({}, { process: "deliveries" });
    endpoint = await startReceiver(200);
    listener = await subscribe(platform, endpoint.url);
    // One permit.
    await Webhooks(platform.mongo).updateOne({ _id: listener.webhookId }, { $set: { max_in_flight: 1 } });
  });
  afterEach(async () => {
    await endpoint.close();
    await platform.destroy();
  });

  it("leaves its permit to others once the endpoint has responded, while its record is written", async () => {
    await emit(platform, [listener]);
    await emit(platform, [listener]);
    const [first, second] = (await deliveriesOf(platform, listener.webhookId)).map(({ _id }) => _id);
    const shared = openShared(platform);
    const attempt = (delivery_id = "") => {
      const job = { delivery_id, webhook_id: listener.webhookId, generation: 0 };
      return makeNextAttempt(platform, { job }, shared);
    };
    // Keeps the document from being written.
    const session = await platform.mongo.startSession();
    session.startTransaction();
    await Deliveries(platform.mongo).updateOne({ _id: first }, { $set: { trigger: "manual" } }, { session });
    let isRecorded = false;
    const recording = attempt(first).then(fields => {
      isRecorded = true;
      return fields;
    });
    await until(() => endpoint.requests.length === 1, { what: "the first attempt" });
    expect(await until(async () => isSent(await attempt(second)), { what: "a permit" })).to.equal(true);
    expect(endpoint.requests).to.have.length(2);
    expect(isRecorded).to.equal(false);
    await session.abortTransaction();
    await session.endSession();
    expect(await recording).to.include({ result: "delivered", recorded: true });
  });

  const isSent = ({ result }: Record<string, unknown>) => result === "delivered";
});
