import { expect } from "chai";
import { recordLaterAttempts, type ToRecord } from "../../../src/deliveries/attempt/record.ts";
import type { Decision } from "../../../src/deliveries/attempt/retry-policy.ts";
import { Deliveries, type Delivery } from "../../../src/models/delivery.ts";
import { openTestPlatform, type TestPlatform } from "../../support/platform.ts";
import { deliveriesOf, emit, type Subscribed, subscribe } from "../fixtures.ts";

describe("the records of attempts that end at the same time", () => {
  let platform: TestPlatform;
  let listener: Subscribed;

  beforeEach(async () => {
    platform = await openTestPlatform({}, { process: "deliveries" });
    listener = await subscribe(platform, "http://127.0.0.1:1/");
  });
  afterEach(() => platform.destroy());

  const made = async (count: number): Promise<ToRecord[]> => {
    for (let n = 0; n < count; n++) await emit(platform, [listener]);
    return (await stored()).map(delivery => attemptOf(delivery, { kind: "delivered" }));
  };
  const stored = () => deliveriesOf(platform, listener.webhookId);
  const attemptOf = (delivery: Delivery, decision: Decision): ToRecord => ({
    ...{ delivery, decision, number: 1 },
    startedAtMs: 1_700_000_000_000,
    nowMs: 1_700_000_000_010,
    cause: null,
    response: { status: 200, latencyMs: 10, error: null, response: "", retryAfter: null, timedOut: false },
  });
  const cancel = (_id = "") =>
    Deliveries(platform.mongo).updateOne({ _id }, { $set: { state: "cancelled", generation: 7 } });

  it("say of each whether its delivery had moved on, and then keep the attempt only", async () => {
    const attempted = await made(3);
    await cancel(attempted[1]?.delivery._id);
    expect(await recordLaterAttempts(platform, attempted)).to.deep.equal([true, false, true]);
    const after = await stored();
    expect(after.map(({ state }) => state)).to.deep.equal(["delivered", "cancelled", "delivered"]);
    expect(after.map(({ generation }) => generation)).to.deep.equal([1, 7, 1]);
    expect(after.map(({ attempts }) => attempts.length)).to.deep.equal([1, 1, 1]);
  });

  it("are written once if they are repeated, and enqueue the next attempts both times", async () => {
    const [delivered, failed] = await made(2);
    const attempted = [
      delivered,
      { ...failed, decision: { kind: "retry", delayMs: 60_000 } as Decision },
    ] as ToRecord[];
    expect(await recordLaterAttempts(platform, attempted)).to.deep.equal([true, true]);
    const once = await stored();
    const queue = platform.queues.get("deliveries");
    await queue?.obliterate({ force: true });
    expect(await recordLaterAttempts(platform, attempted)).to.deep.equal([true, true]);
    expect(await stored()).to.deep.equal(once);
    expect(await queue?.getDelayedCount()).to.equal(1);
  });
});
