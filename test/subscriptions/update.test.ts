import { expect } from "chai";
import { newId } from "../../src/lib/ids.ts";
import { type Subscription, Subscriptions } from "../../src/models/subscription.ts";
import { deleteSubscription, updateSubscription } from "../../src/subscriptions/subscribe.ts";
import { rejection } from "../components/rejection.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";

const FUNCTION = "export default event => ({ n: event.n });";

describe("changing a subscription", () => {
  let platform: TestPlatform;
  let subscription: Subscription;
  before(async () => {
    platform = await openTestPlatform();
  });
  beforeEach(async () => {
    subscription = await stored({ filter: '{"a":1}' });
  });
  after(() => platform.destroy());

  async function stored(fields: Partial<Subscription> = {}): Promise<Subscription> {
    const row = {
      ...{ _id: newId("sub"), owner_id: newId("o"), user_id: newId("u"), emitter_id: newId("p") },
      ...{ listener_id: newId("wh"), event_name: "", filter: null, created_at: 0, ...fields },
    };
    await Subscriptions(platform.mongo).insertOne(row);
    return row;
  }
  const now = () => Subscriptions(platform.mongo).findById(subscription._id).lean();

  it("keeps what is left out, sets what is given, and removes what is null", async () => {
    const { owner_id } = subscription;
    const withBoth = await updateSubscription(platform, subscription, { function: FUNCTION });
    expect(withBoth).to.include({ _id: subscription._id, owner_id, filter: '{"a":1}' });
    expect(withBoth.function_hash).to.match(/^[0-9a-f]{64}$/);
    expect(await updateSubscription(platform, subscription, {})).to.deep.equal(withBoth);
    const other = await updateSubscription(platform, subscription, { filter: { b: 2 } });
    const revised = { revision: 3, revisions: { function: 2, filter: 3 } };
    expect(other).to.deep.equal({ ...withBoth, filter: '{"b":2}', ...revised });
    expect(await updateSubscription(platform, subscription, { filter: null })).to.include({
      filter: null,
      function_hash: withBoth.function_hash,
    });
    expect(await updateSubscription(platform, subscription, { function: null })).not.to.have.property(
      "function_hash",
    );
    expect(await Subscriptions(platform.mongo).countDocuments({ owner_id })).to.equal(1);
  });

  it("gives the same result once more, also at the same time", async () => {
    const change = { filter: { b: 2 }, function: FUNCTION };
    const results = await Promise.all(
      Array.from({ length: 6 }, () => updateSubscription(platform, subscription, change)),
    );
    for (const result of results) expect(result).to.deep.equal(results[0]);
    expect(await now()).to.deep.equal(results[0]);
  });

  it("counts the errors of a function from then on, and keeps the count otherwise", async () => {
    const last_function_error = {
      ...{ message: "no", line: 1, column: 2, event_id: "1-0", at_ms: 1, logs: [] },
    };
    const failing = { function_hash: "0".repeat(64), function_errors: 3, last_function_error };
    await Subscriptions(platform.mongo).updateOne({ _id: subscription._id }, { $set: failing });
    expect(await updateSubscription(platform, subscription, { filter: null })).to.include({
      function_errors: 3,
    });
    const fresh = await updateSubscription(platform, subscription, { function: FUNCTION });
    expect(fresh).not.to.have.any.keys("function_errors", "last_function_error");
  });

  it("changes nothing if a part of it is wrong, and names that", async () => {
    for (const [change, path] of [
      [{ filter: { a: { $what: 1 } }, function: FUNCTION }, "filter.a.$what"],
      [{ filter: { b: 2 }, function: "export default 7;" }, "function"],
      [{ filter: { b: 2 }, function: "export default event => {" }, "function"],
    ] as const) {
      const error = await rejection(updateSubscription(platform, subscription, change));
      expect([error.code, error.fields[0]?.path]).to.deep.equal(["invalid", path]);
    }
    const toWorkflow = await stored({ listener_id: newId("p") });
    const error = await rejection(updateSubscription(platform, toWorkflow, { function: FUNCTION }));
    expect([error.code, error.fields[0]?.path]).to.deep.equal(["invalid", "function"]);
    expect(await now()).to.deep.include({ filter: '{"a":1}' });
    expect(await now()).not.to.have.property("function_hash");
  });

  it("is not-found once the subscription is deleted", async () => {
    await deleteSubscription(platform, subscription);
    const error = await rejection(updateSubscription(platform, subscription, { filter: null }));
    expect([error.code, error.message]).to.deep.equal(["not-found", "subscription not found"]);
  });
});
