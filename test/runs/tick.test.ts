import { expect } from "chai";
import { newId } from "../../src/lib/ids.ts";
import { Sources } from "../../src/models/source.ts";
import { parseRunItem } from "../../src/queues/run-item.ts";
import { tick, tickRunId } from "../../src/runs/tick.ts";
import { readDrops } from "../../src/store/events/drops.ts";
import { clearTick } from "../../src/store/runs/admit-tick.ts";
import { samplerOf } from "../../src/tracing/sampler.ts";
import { Tracer } from "../../src/tracing/tracer.ts";
import { storeSource } from "../sources/source-row.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { until } from "../support/until.ts";

describe("the tick of a timer", () => {
  let platform: TestPlatform;
  before(async () => {
    platform = await openTestPlatform();
  });
  after(() => platform.destroy());

  const timer = { cron: null, timezone: null, interval_seconds: 60 };
  const queued = async (id: string) =>
    (await platform.redis.lrange(platform.keys.runQueue(id), 0, -1)).map(parseRunItem);

  it("queues one run, with the event of its due time", async () => {
    const { _id } = await storeSource(platform, { timer });
    const due = Date.now();
    expect(await tick(platform, _id, due)).to.equal("enqueued");
    const [item, ...others] = await queued(_id);
    expect(others).to.deep.equal([]);
    expect(item).to.deep.include({
      kind: "timer",
      at_ms: due,
      event: { timestamp: Math.floor(due / 1000), interval_seconds: 60 },
    });
  });

  it("of a cron timer has the local time of its zone", async () => {
    const { _id } = await storeSource(platform, {
      timer: { cron: "0 3 * * *", timezone: "Asia/Tokyo", interval_seconds: null },
    });
    await tick(platform, _id, Date.UTC(2026, 0, 1, 18));
    const [item] = await queued(_id);
    expect(item).to.have.nested.property("event.cron", "0 3 * * *");
    expect(item).to.have.nested.property(
      "event.timezone_configured.iso8601.timestamp",
      "2026-01-02T03:00:00+09:00",
    );
  });

  it("has the same run id if it is reported twice, so that it runs once", async () => {
    const { _id } = await storeSource(platform, { timer });
    const due = Date.now();
    await tick(platform, _id, due);
    await tick(platform, _id, due);
    expect(new Set((await queued(_id)).map(item => item.run_id)).size).to.equal(1);
    const other = await storeSource(platform, { timer });
    await tick(platform, other._id, due);
    expect((await queued(other._id))[0]?.run_id).not.to.equal((await queued(_id))[0]?.run_id);
  });

  it("queues the very text again if it is reported twice, its trace too, because that text was admitted", async () => {
    const tracer = new Tracer(samplerOf(1), {
      begin: (_name, _startMs, context) => ({ context, end() {} }),
      async close() {},
    });
    const { _id } = await storeSource(platform, { timer });
    const due = Date.now();
    for (let i = 0; i < 2; i++) await tick({ ...platform, tracer }, _id, due);
    const texts = await platform.redis.lrange(platform.keys.runQueue(_id), 0, -1);
    expect(texts).to.have.length(2);
    expect(texts[0]).to.equal(texts[1]);
    expect(parseRunItem(texts[0] ?? "").trace).to.match(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
  });

  it("is dropped and counted while an earlier one waits", async () => {
    const { _id } = await storeSource(platform, { timer });
    const due = Date.now();
    expect(await tick(platform, _id, due)).to.equal("enqueued");
    expect(await tick(platform, _id, due + 1000)).to.equal("overlap");
    expect(await queued(_id)).to.have.length(1);
    expect(await readDrops(platform, _id)).to.deep.equal({ "timer-overlap": 1 });
  });

  it("is admitted by Redis' clock, whatever the clocks of the machines say that handle it", async () => {
    const { _id } = await storeSource(platform, { timer });
    const machine = (aheadMs: number) => ({ ...platform, clock: () => Date.now() + aheadMs });
    for (const aheadMs of [86_400_000, -86_400_000, 10_000, 0]) {
      const due = Date.now();
      expect(await tick(machine(aheadMs), _id, due), `${aheadMs} ms ahead`).to.equal("enqueued");
      // Its run starts.
      await clearTick(platform, _id, tickRunId(_id, due));
      await platform.redis.del(platform.keys.runQueue(_id));
      // Later than the moment at which it was admitted.
      const now = Date.now();
      await until(() => Date.now() > now + 1);
    }
    expect(await readDrops(platform, _id)).to.deep.equal({});
  });

  it("does nothing before its time, so that it can come again when it is due", async () => {
    const { _id } = await storeSource(platform, { timer });
    for (const earlyMs of [10_000, 3_600_000, 86_400_000]) {
      expect(await tick(platform, _id, Date.now() + earlyMs)).to.equal("early");
    }
    expect(await queued(_id)).to.deep.equal([]);
    expect(await tick(platform, _id, Date.now())).to.equal("enqueued");
    expect(await readDrops(platform, _id)).to.deep.equal({});
  });

  it("does nothing for a source that is disabled, being deployed or deleted, without a timer, or unknown", async () => {
    const sources = await Promise.all([
      storeSource(platform, { timer, active: false }),
      storeSource(platform, { timer, state: "deleting" }),
      storeSource(platform, { timer, state: "deploying" }),
      storeSource(platform, { timer: null }),
    ]);
    for (const id of [...sources.map(({ _id }) => _id), newId("dc")]) {
      expect(await tick(platform, id, Date.now())).to.equal("inactive");
      expect(await queued(id)).to.deep.equal([]);
      expect(await platform.redis.keys(`*{${id}}*`)).to.deep.equal([]);
    }
    expect(await Sources(platform.mongo).countDocuments({ name: "gone" })).to.equal(0);
  });
});
