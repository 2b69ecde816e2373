import { expect } from "chai";
import { LIMITS } from "../../src/limits/catalogue.ts";
import {
  Activity,
  hourOf,
  latencyBucket,
  percentileOf,
  Rollups,
  rollupId,
} from "../../src/store/activity.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";

describe("hourly counts", () => {
  let platform: TestPlatform;
  let now = Date.UTC(2099, 0, 31, 23, 59, 59);
  let activity: Activity;
  before(async () => {
    platform = await openTestPlatform();
  });
  after(() => platform.destroy());
  beforeEach(() => {
    now = Date.UTC(2099, 0, 31, 23, 59, 59);
    activity = new Activity({ ...platform, clock: () => now });
  });

  /** Not the majority's view: what was just written is not in it yet. */
  const rollup = (subject: string, ms: number) =>
    Rollups(platform.mongo)
      .findById(rollupId(subject, hourOf(ms)))
      .readConcern("local")
      .lean();

  it("are added up over processes and flushes, each hour by itself, and kept for 31 days", async () => {
    const other = new Activity({ ...platform, clock: () => now });
    activity.count(["wh_a", "u_a"], ["attempts", "delivered"], 10);
    other.count(["wh_a"], ["attempts", "retried"], 900);
    await Promise.all([activity.flush(), other.flush()]);
    activity.count(["wh_a"], ["attempts"]);
    activity.countDropped("wh_a", "filtered", 2);
    await activity.flush();
    const first = now;
    now += 1000;
    activity.count(["wh_a"], ["attempts"]);
    await activity.flush();
    const stored = await rollup("wh_a", first);
    expect(stored?.counts).to.deep.equal({ attempts: 3, delivered: 1, retried: 1 });
    expect(stored?.dropped).to.deep.equal({ filtered: 2 });
    expect(stored?.latency).to.deep.equal({ [latencyBucket(10)]: 1, [latencyBucket(900)]: 1 });
    expect(stored?.expires_at.getTime()).to.equal(hourOf(first) * 1000 + LIMITS.rollupKept.value);
    expect((await rollup("wh_a", now))?.counts).to.deep.equal({ attempts: 1 });
    expect((await rollup("u_a", first))?.counts).to.deep.equal({ attempts: 1, delivered: 1 });
  });

  it("wait in memory while they can't be written", async () => {
    const model = Rollups(platform.mongo);
    const write = model.bulkWrite.bind(model);
    Object.assign(model, { bulkWrite: () => Promise.reject(new Error("away")) });
    activity.count(["wh_b"], ["failed"], 5);
    activity.countDropped("wh_b", "filtered", 1);
    expect(await activity.flush().catch((error: Error) => error.message)).to.equal("away");
    Object.assign(model, { bulkWrite: write });
    activity.count(["wh_b"], ["failed"], 5);
    await activity.flush();
    const stored = await rollup("wh_b", now);
    expect([stored?.counts, stored?.dropped, stored?.latency]).to.deep.equal([
      { failed: 2 },
      { filtered: 1 },
      { [latencyBucket(5)]: 2 },
    ]);
  });

  it("have percentiles that are off by 5 % at most", () => {
    const latencies = Array.from({ length: 1000 }, (_, i) => 3 + (i * i) / 40);
    const buckets: Record<string, number> = {};
    for (const ms of latencies) buckets[latencyBucket(ms)] = (buckets[latencyBucket(ms)] ?? 0) + 1;
    for (const share of [0.5, 0.95, 1]) {
      const exact = latencies[Math.ceil(1000 * share) - 1] ?? 0;
      expect(percentileOf(buckets, share)).to.be.closeTo(exact, exact * 0.052);
    }
    expect(percentileOf({}, 0.5)).to.equal(null);
    expect([latencyBucket(0), latencyBucket(1e9)]).to.deep.equal([0, 130]);
  });
});
