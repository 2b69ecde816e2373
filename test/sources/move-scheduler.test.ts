import { expect } from "chai";
import { newId } from "../../src/lib/ids.ts";
import { openedQueue } from "../../src/queues/define-queue.ts";
import { runs } from "../../src/queues/runs.ts";
import { shardNumber, shardsOf } from "../../src/queues/shards.ts";
import {
  findScheduler,
  hasPendingTick,
  moveScheduler,
  nextTickMs,
  readSchedulers,
  removeScheduler,
  syncScheduler,
} from "../../src/sources/timer-scheduler.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { shardedEnv } from "../support/shards.ts";

describe("a timer whose queue has got more shards", () => {
  let platform: TestPlatform;
  before(async () => {
    platform = await openTestPlatform(await shardedEnv({ runs: 3 }));
  });
  after(() => platform.destroy());

  const shards = () => shardsOf(openedQueue(platform.queues, runs));
  /** A source whose own shard is not the first, on which its timer was set before the number grew. */
  const old = async (repeat: { every: number; startDate?: number } | { pattern: string; tz: string }) => {
    let id = newId("dc");
    while (shardNumber(openedQueue(platform.queues, runs), id) !== 2) id = newId("dc");
    await shards()[0]?.upsertJobScheduler(id, repeat, { name: "tick", data: { source_id: id } });
    return id;
  };
  const nextOn = async (id: string) =>
    await Promise.all(shards().map(async shard => (await shard.getJobScheduler(id))?.next));
  const ticksOn = async (id: string) =>
    await Promise.all(
      shards().map(async shard => {
        const jobs = await shard.getJobs(["delayed", "waiting", "prioritized"]);
        return jobs
          .filter(job => job.data.source_id === id)
          .map(job => job.timestamp + (job.opts.delay ?? 0));
      }),
    );
  const soon = () => Date.now() + 600_000;

  it("moves to its source's shard with the moment at which it ticks next, interval or cron", async () => {
    const inOneHour = Date.now() + 3_600_000;
    for (const repeat of [
      { every: 7_200_000, startDate: inOneHour },
      { pattern: "0 3 * * *", tz: "Asia/Tokyo" },
    ]) {
      const id = await old(repeat);
      const [before] = await nextOn(id);
      expect(await moveScheduler(platform, { source_id: id, account_id: "u_1" })).to.equal("moved");
      expect(await nextOn(id)).to.deep.equal([undefined, undefined, before]);
      expect(await ticksOn(id)).to.deep.equal([[], [], [before]]);
      expect(await moveScheduler(platform, { source_id: id, account_id: "u_1" })).to.equal("stays");
    }
  });

  it("stays while its next tick is about to start, or is late", async () => {
    const id = await old({ every: 3_600_000 });
    expect(await moveScheduler(platform, { source_id: id })).to.equal("stays");
    expect((await nextOn(id)).slice(1)).to.deep.equal([undefined, undefined]);
  });

  it("is removed from where it was if it has been set on its shard since", async () => {
    const id = await old({ every: 7_200_000, startDate: soon() });
    const at = soon() + 1000;
    await shards()[2]?.upsertJobScheduler(id, { every: 60_000, startDate: at }, { name: "tick", data: {} });
    expect(await moveScheduler(platform, { source_id: id })).to.equal("moved");
    expect(await nextOn(id)).to.deep.equal([undefined, undefined, at]);
  });

  it("is found, left alone while it agrees, set on its own shard once it changes, and removed", async () => {
    const startDate = soon();
    const id = await old({ every: 7_200_000, startDate });
    const timer = { cron: null, timezone: null, interval_seconds: 7200 };
    const source = { _id: id, active: true, state: "ready" as const, timer };
    expect((await findScheduler(platform, id))?.next).to.equal(startDate);
    const schedulers = await readSchedulers(platform, [id, "dc_none"]);
    expect([...schedulers].map(([source, { next }]) => [source, next])).to.deep.equal([[id, startDate]]);
    expect(await hasPendingTick(platform, { key: id, next: startDate })).to.equal(true);
    expect(await nextTickMs(platform, source)).to.equal(startDate);
    expect(await syncScheduler(platform, source)).to.equal("unchanged");
    expect(await syncScheduler(platform, { ...source, timer: { ...timer, interval_seconds: 60 } })).to.equal(
      "set",
    );
    expect((await nextOn(id)).slice(0, 2)).to.deep.equal([undefined, undefined]);
    expect((await nextOn(id))[2]).to.be.a("number");

    const other = await old({ every: 7_200_000, startDate });
    await removeScheduler(platform, other);
    expect(await ticksOn(other)).to.deep.equal([[], [], []]);
  });
});
