import { expect } from "chai";
import { newId } from "../../src/lib/ids.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { openSubscriber } from "../../src/platform.ts";
import type { AccountActivity } from "../../src/store/activity.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { until } from "../support/until.ts";

describe("the rows that a process shows to live views", () => {
  let platform: TestPlatform;
  before(async () => {
    platform = await openTestPlatform();
  });
  after(() => platform.destroy());

  it("are at most so many of an account at a time, and the rest is counted", async () => {
    const owner = newId("u");
    const messages: AccountActivity[] = [];
    const subscriber = openSubscriber(platform);
    subscriber.on("message", (_channel, message) => messages.push(JSON.parse(message)));
    await subscriber.subscribe(platform.keys.accountFeed(owner));
    await platform.activity.watch(owner);
    const most = LIMITS.liveRows.value;
    for (let n = 0; n <= most; n += 1) platform.activity.show(owner, "runs", `run ${n}`, () => ({ n }));
    for (let n = 0; n < most; n += 1) platform.activity.show(owner, "deliveries", `${n}`, () => ({ n }));
    const [message] = await until(() => messages.length > 0 && messages);
    subscriber.disconnect();
    expect([message?.runs.length, message?.deliveries.length]).to.deep.equal([most, most]);
    expect(message?.skipped).to.deep.equal({ runs: 1, deliveries: 0 });
  });
});
