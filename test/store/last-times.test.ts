import { expect } from "chai";
import { newId } from "../../src/lib/ids.ts";
import { Sources } from "../../src/models/source.ts";
import { Webhooks } from "../../src/models/webhook.ts";
import { Activity } from "../../src/store/activity.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";

describe("what last happened to webhooks and sources", () => {
  let platform: TestPlatform;
  let now = Date.UTC(2099, 0, 1);
  const [webhook, destination, source] = [newId("wh"), newId("ds"), newId("dc")];

  before(async () => {
    platform = await openTestPlatform();
    // As an earlier release has stored them.
    const rows = (ids: string[]) => ids.map(_id => ({ _id, owner_id: "u_1", active: true })) as never;
    await Webhooks(platform.mongo).collection.insertMany(rows([webhook, destination]));
    await Sources(platform.mongo).collection.insertMany(rows([source]));
  });
  after(() => platform.destroy());

  const timesOf = async (model: typeof Webhooks | typeof Sources, _id: string) => {
    const row = await model(platform.mongo).collection.findOne({ _id } as never, { readConcern: "local" });
    return [row?.last_event_ms, row?.last_success_ms, row?.last_error_ms];
  };

  it("is written with the counts of their deliveries and runs, and is nothing before", async () => {
    expect(await timesOf(Webhooks, webhook)).to.deep.equal([undefined, undefined, undefined]);
    const activity = new Activity({ ...platform, clock: () => now });
    activity.count(["u_1", webhook, source], ["attempts", "delivered"], 10);
    activity.count([destination], ["attempts", "retried"], 10);
    await activity.flush();
    expect(await timesOf(Webhooks, webhook)).to.deep.equal([now, now, undefined]);
    expect(await timesOf(Webhooks, destination)).to.deep.equal([now, undefined, now]);
    expect(await timesOf(Sources, source), "its deliveries are not its own").to.deep.equal([
      undefined,
      undefined,
      undefined,
    ]);
    const before = now;
    now += 60_000;
    activity.count(["u_1", source], ["runs", "run_errors"]);
    activity.count([source], ["emitted"]);
    activity.count([webhook], ["failed"]);
    await activity.flush();
    expect(await timesOf(Sources, source)).to.deep.equal([now, undefined, now]);
    expect(await timesOf(Webhooks, webhook), "it was not sent").to.deep.equal([before, before, now]);
  });

  it("is never earlier than what another process has written, and makes no row of what is gone", async () => {
    const early = new Activity({ ...platform, clock: () => now - 600_000 });
    const gone = newId("wh");
    early.count([webhook, gone], ["attempts", "failed"]);
    await early.flush();
    expect((await timesOf(Webhooks, webhook))[2]).to.equal(now);
    expect(await Webhooks(platform.mongo).exists({ _id: gone })).to.equal(null);
  });
});
