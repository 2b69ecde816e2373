import { expect } from "chai";
import { newId } from "../../src/lib/ids.ts";
import { leaseToken } from "../../src/store/run-queue.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";

describe("run line", () => {
  let platform: TestPlatform;
  before(async () => {
    platform = await openTestPlatform();
  });
  after(() => platform.destroy());

  const LEASE_MS = 10_000;
  const push = async (source: string, ...runs: string[]) => await platform.runQueue.push(source, runs, 0);
  const take = (source: string, token: string, most = 1) =>
    platform.runQueue.claim(source, token, LEASE_MS, most);
  const finish = (source: string, token: string, count = 1) => platform.runQueue.ack(source, token, count);
  const given = (...runs: string[]) => ({ state: "runs", runs, crashes: 0 });
  const left = (run: string, crashes: number) => ({ state: "runs", runs: [run], crashes });

  it("gives runs in order of arrival, as many as asked for, to one holder only", async () => {
    const source = newId("dc");
    expect(await push(source, "1", "2")).to.deep.equal(["notify", "queued"]);
    expect(await push(source, "3", "4")).to.deep.equal(["queued", "queued"]);

    expect(await take(source, "a", 3)).to.deep.equal(given("1", "2", "3"));
    expect(await take(source, "b")).to.deep.equal({ state: "busy" });
    expect(await finish(source, "b")).to.equal("lost");
    expect(await finish(source, "a", 3)).to.equal("ok");
    expect(await take(source, "a", 3)).to.deep.equal(given("4"));
    await finish(source, "a");
    expect(await take(source, "a")).to.deep.equal({ state: "empty" });
    expect(await take(source, "b")).to.deep.equal({ state: "empty" });
  });

  it("gives fewer at a time when they are large, and at least one", async () => {
    const source = newId("dc");
    const large = "x".repeat(1024 * 1024);
    await platform.runQueue.push(source, [`${large}${large}`, large, large, "small"], 0);
    const lengths: number[] = [];
    for (let taken = await take(source, "a", 9); taken.state === "runs"; taken = await take(source, "a", 9)) {
      lengths.push(taken.runs.length);
      await finish(source, "a", taken.runs.length);
    }
    expect(lengths).to.deep.equal([1, 2, 1]);
  });

  it("gives a change before the runs that wait, alone, and says when one waits", async () => {
    const source = newId("dc");
    await push(source, "1", "2", "3");
    await take(source, "a", 2);
    for (const change of ["first change", "second change"]) {
      await platform.runQueue.pushChange(source, change);
    }
    expect(await finish(source, "a")).to.equal("change-waits");
    await platform.runQueue.nack(source, "a");
    expect(await take(source, "a", 9)).to.deep.equal(given("first change"));
    expect(await finish(source, "a")).to.equal("change-waits");
    expect(await take(source, "a", 9)).to.deep.equal(given("second change"));
    expect(await finish(source, "a")).to.equal("ok");
    expect(await take(source, "a", 9)).to.deep.equal(given("2", "3"));
  });

  it("gives what a killed holder left to the next ones one by one, and counts the crashes", async () => {
    const source = newId("dc");
    await push(source, "1", "2", "3");
    await take(source, "killed", 2);
    for (const crashes of [1, 2]) {
      await platform.redis.del(platform.keys.runLease(source));
      expect(await take(source, `next ${crashes}`, 9)).to.deep.equal(left("1", crashes));
    }
    expect(await finish(source, "next 2")).to.equal("ok");
    expect(await take(source, "next 2", 9)).to.deep.equal(left("2", 1));
    await finish(source, "next 2");
    expect(await take(source, "next 2", 9)).to.deep.equal(given("3"));
  });

  it("counts no death of a holder that gives its lease back", async () => {
    const source = newId("dc");
    await push(source, "1");
    for (let times = 0; times < 3; times++) {
      await take(source, `stops ${times}`);
      await platform.runQueue.release(source, `stops ${times}`);
    }
    expect(await take(source, "next")).to.deep.equal(left("1", 1));
  });

  it("lets the same job, given out again, take its lease over, and fences its earlier execution out", async () => {
    const source = newId("dc");
    await push(source, "1", "2");
    const [first, second] = [leaseToken("repeat:dc:7"), leaseToken("repeat:dc:7")];
    expect(await take(source, first)).to.deep.equal(given("1"));
    expect(await take(source, leaseToken("repeat:dc:8"))).to.deep.equal({ state: "busy" });

    expect(await take(source, second)).to.deep.equal(left("1", 1));
    expect(await finish(source, first)).to.equal("lost");
    expect(await platform.runQueue.renew(source, first, LEASE_MS)).to.equal(false);
    await platform.runQueue.nack(source, first);
    await platform.runQueue.release(source, first);
    expect(await finish(source, second)).to.equal("ok");
    expect(await take(source, second)).to.deep.equal(given("2"));
  });

  it("asks for a wake again once a worker has begun", async () => {
    const source = newId("dc");
    await push(source, "1");
    await take(source, "a");
    expect(await push(source, "2")).to.deep.equal(["notify"]);
  });

  it("refuses more than the longest line allowed, and takes what fits", async () => {
    const source = newId("dc");
    expect(await platform.runQueue.push(source, ["1", "2", "3"], 2)).to.deep.equal([
      "notify",
      "queued",
      "full",
    ]);
    expect(await platform.runQueue.push(source, ["4"], 2)).to.deep.equal(["full"]);
    expect(await platform.runQueue.length(source)).to.equal(2);
  });

  it("names sources whose runs nobody works on, and forgets those that are empty", async () => {
    const [waiting, held, empty] = [newId("dc"), newId("dc"), newId("dc")];
    for (const source of [waiting, held, empty]) await push(source, "1");
    await take(held, "holder");
    await take(empty, "holder");
    await finish(empty, "holder");
    await take(empty, "holder");
    const busyOnce = newId("dc");
    await push(busyOnce, "1");
    await take(busyOnce, "holder");
    await finish(busyOnce, "holder");
    await take(busyOnce, "holder");
    await platform.redis.zadd(platform.keys.sourcesWithRuns(), Date.now() - 60_000, empty);

    const stuck = await platform.runQueue.findStalled(Date.now() + 1);
    expect(stuck).to.include(waiting).and.not.include(held).and.not.include(empty);
    expect(await platform.redis.zscore(platform.keys.sourcesWithRuns(), empty)).to.equal(null);
    // Listed a moment ago, it may get runs that do not list it again.
    expect(await platform.redis.zscore(platform.keys.sourcesWithRuns(), busyOnce)).to.be.a("string");
  });
});
