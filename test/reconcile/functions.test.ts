import { expect } from "chai";
import { EVENT_KEPT_SECONDS } from "../../src/models/event.ts";
import { AutoSubscriptions, StoredFunctions, Subscriptions } from "../../src/models/subscription.ts";
import { beginFunctionSweep } from "../../src/reconcile/functions.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";

describe("the sweep of functions", () => {
  let platform: TestPlatform;
  let laterMs: number;
  beforeEach(async () => {
    platform = await openTestPlatform();
    laterMs = 0;
  });
  afterEach(() => platform.destroy());

  const sweep = () => beginFunctionSweep({ ...platform, clock: () => platform.clock() + laterMs })(null);
  const stored = async () =>
    (await StoredFunctions(platform.mongo).find().sort({ _id: 1 }).lean()).map(({ _id }) => _id);

  it("deletes what no subscription has had for as long as deliveries are kept, and nothing else", async () => {
    const row = { code: "a", bundle: "b", saves: 1 };
    await StoredFunctions(platform.mongo).insertMany(
      ["again", "auto", "unused", "used"].map(_id => ({ _id, ...row })),
    );
    const subscription = {
      ...{ owner_id: "u_1", user_id: "u_1", emitter_id: "p_1", event_name: "", filter: null, created_at: 0 },
    };
    const subscribe = (function_hash: string) =>
      Subscriptions(platform.mongo).insertOne({
        ...{ ...subscription, _id: `sub_${function_hash}`, listener_id: function_hash, function_hash },
      });
    await subscribe("used");
    await AutoSubscriptions(platform.mongo).insertOne({
      ...{ _id: "asub_1", owner_id: "u_1", user_id: "u_1", listener_id: "wh_1", event_name: "$errors" },
      ...{ function_hash: "auto", created_at: 0 },
    });
    await sweep();
    expect(await stored()).to.deep.equal(["again", "auto", "unused", "used"]);
    await subscribe("again");
    await sweep();
    laterMs = EVENT_KEPT_SECONDS * 1000 + 1000;
    await sweep();
    expect(await stored()).to.deep.equal(["again", "auto", "used"]);
  });
});
