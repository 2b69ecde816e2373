import { expect } from "chai";
import { newId } from "../../src/lib/ids.ts";
import { Sources } from "../../src/models/source.ts";
import { parseRunItem } from "../../src/queues/run-item.ts";
import { tick } from "../../src/runs/tick.ts";
import { readDrops } from "../../src/store/drops.ts";
import { storeSource } from "../sources/source-row.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";

describe("a timer's tick", () => {
  let platform: TestPlatform;
  before(async () => {
    platform = await openTestPlatform();
  });
  after(() => platform.destroy());

  const timer = { cron: null, timezone: null, interval_seconds: 60 };
  const line = async (id: string) =>
    (await platform.redis.lrange(platform.keys.runQueue(id), 0, -1)).map(parseRunItem);

  it("puts one run into the line, with the event of its moment", async () => {
    const { _id } = await storeSource(platform, { timer });
    const due = Date.now();
    expect(await tick(platform, _id, due)).to.equal("enqueued");
    const [item, ...others] = await line(_id);
    expect(others).to.deep.equal([]);
    expect(item).to.deep.include({
      kind: "timer",
      at_ms: due,
      event: { timestamp: Math.floor(due / 1000), interval_seconds: 60 },
    });
  });

  it("of a cron timer tells its zone's time", async () => {
    const { _id } = await storeSource(platform, {
      timer: { cron: "0 3 * * *", timezone: "Asia/Tokyo", interval_seconds: null },
    });
    await tick(platform, _id, Date.UTC(2026, 0, 1, 18));
    const [item] = await line(_id);
    expect(item).to.have.nested.property("event.cron", "0 3 * * *");
    expect(item).to.have.nested.property(
      "event.timezone_configured.iso8601.timestamp",
      "2026-01-02T03:00:00+09:00",
    );
  });

  it("told twice has one identity, so that it runs once", async () => {
    const { _id } = await storeSource(platform, { timer });
    const due = Date.now();
    await tick(platform, _id, due);
    await tick(platform, _id, due);
    expect(new Set((await line(_id)).map(item => item.run_id)).size).to.equal(1);
    const other = await storeSource(platform, { timer });
    await tick(platform, other._id, due);
    expect((await line(other._id))[0]?.run_id).not.to.equal((await line(_id))[0]?.run_id);
  });

  it("is dropped and counted while an earlier one waits", async () => {
    const { _id } = await storeSource(platform, { timer });
    const due = Date.now();
    expect(await tick(platform, _id, due)).to.equal("enqueued");
    expect(await tick(platform, _id, due + 60_000)).to.equal("overlap");
    expect(await line(_id)).to.have.length(1);
    expect(await readDrops(platform, _id)).to.deep.equal({ "timer-overlap": 1 });
  });

  it("does nothing for a source that is disabled, going, without a timer, or gone", async () => {
    const sources = await Promise.all([
      storeSource(platform, { timer, active: false }),
      storeSource(platform, { timer, state: "deleting" }),
      storeSource(platform, { timer, state: "deploying" }),
      storeSource(platform, { timer: null }),
    ]);
    for (const id of [...sources.map(({ _id }) => _id), newId("dc")]) {
      expect(await tick(platform, id, Date.now())).to.equal("inactive");
      expect(await line(id)).to.deep.equal([]);
      expect(await platform.redis.keys(`*{${id}}*`)).to.deep.equal([]);
    }
    expect(await Sources(platform.mongo).countDocuments({ name: "gone" })).to.equal(0);
  });
});
