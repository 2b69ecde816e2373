import { expect } from "chai";
import { newId } from "../../../src/lib/ids.ts";
import { leaseToken, UNBOUNDED } from "../../../src/store/runs/run-queue.ts";
import { forgetSettled, listSettled, readSettled } from "../../../src/store/runs/settled-runs.ts";
import { openTestPlatform, type TestPlatform } from "../../support/platform.ts";

describe("run queue", () => {
  let platform: TestPlatform;
  before(async () => {
    platform = await openTestPlatform();
  });
  after(() => platform.destroy());

  const LEASE_MS = 10_000;
  const push = async (source: string, ...runs: string[]) =>
    await platform.runQueue.push(source, runs, UNBOUNDED);
  const claim = (source: string, token: string, most = 1) =>
    platform.runQueue.claim(source, token, LEASE_MS, most);
  const ack = (source: string, token: string, left = 0) => platform.runQueue.ack(source, token, left);
  const fresh = (...runs: string[]) => ({
    state: "runs",
    runs,
    crashes: 0,
    claimed: runs.length,
    settled: 0,
  });
  const unfinished = (run: string, crashes: number, claimed = 1) => ({
    ...{ state: "runs", runs: [run] },
    ...{ crashes, claimed, settled: 0 },
  });

  it("returns runs in order of arrival, as many as requested, to one holder only", async () => {
    const source = newId("dc");
    expect(await push(source, "1", "2")).to.include({ accepted: 2 });
    expect(await push(source, "3", "4")).to.deep.equal({ accepted: 2, notification: null });

    expect(await claim(source, "a", 3)).to.deep.equal(fresh("1", "2", "3"));
    expect(await claim(source, "b")).to.deep.equal({ state: "busy" });
    expect(await ack(source, "b")).to.equal("lost");
    expect(await ack(source, "a")).to.equal("ok");
    expect(await claim(source, "a", 3)).to.deep.equal(fresh("4"));
    await ack(source, "a");
    expect(await claim(source, "a")).to.deep.equal({ state: "empty" });
    expect(await claim(source, "b")).to.deep.equal({ state: "empty" });
  });

  it("returns fewer runs in one claim if they are large, and at least one", async () => {
    const source = newId("dc");
    const large = "x".repeat(1024 * 1024);
    await platform.runQueue.push(source, [`${large}${large}`, large, large, "small"], UNBOUNDED);
    const lengths: number[] = [];
    for (;;) {
      const claimed = await claim(source, "a", 9);
      if (claimed.state !== "runs") break;
      lengths.push(claimed.runs.length);
      await ack(source, "a");
    }
    expect(lengths).to.deep.equal([1, 2, 1]);
  });

  it("returns a change alone and ahead of waiting runs, and reports a waiting change", async () => {
    const source = newId("dc");
    await push(source, "1", "2", "3");
    await claim(source, "a", 2);
    for (const change of ["first change", "second change"]) {
      await platform.runQueue.pushChange(source, change, 0);
    }
    expect(await ack(source, "a", 1)).to.equal("change-waits");
    await platform.runQueue.nack(source, "a");
    expect(await claim(source, "a", 9)).to.deep.equal(fresh("first change"));
    expect(await ack(source, "a")).to.equal("change-waits");
    expect(await claim(source, "a", 9)).to.deep.equal(fresh("second change"));
    expect(await ack(source, "a")).to.equal("ok");
    expect(await claim(source, "a", 9)).to.deep.equal(fresh("2", "3"));
  });

  it("returns runs that a killed holder had claimed one by one, and counts the crashes", async () => {
    const source = newId("dc");
    await push(source, "1", "2", "3");
    await claim(source, "killed", 2);
    for (const crashes of [1, 2]) {
      await platform.redis.del(platform.keys.runLease(source));
      expect(await claim(source, `next ${crashes}`, 9)).to.deep.equal(unfinished("1", crashes, 2));
    }
    expect(await ack(source, "next 2", 1)).to.equal("ok");
    expect(await claim(source, "next 2", 9)).to.deep.equal(unfinished("2", 1));
    await ack(source, "next 2");
    expect(await claim(source, "next 2", 9)).to.deep.equal(fresh("3"));
  });

  it("loses no run if an acknowledgement is sent again, because Redis died before its reply", async () => {
    const source = newId("dc");
    await push(source, "1", "2", "3", "4", "5");
    await claim(source, "a", 4);
    expect(await ack(source, "a", 2)).to.equal("ok");
    expect(await ack(source, "a", 2)).to.equal("ok");
    await platform.runQueue.nack(source, "a");
    expect(await claim(source, "a", 9)).to.deep.equal(fresh("3", "4", "5"));
  });

  it("settles runs once, however often it is told, and reserves the ids of their events once", async () => {
    const source = newId("dc");
    await push(source, "1", "2", "3");
    await claim(source, "a", 3);
    const settle = (token: string, id: string, left: number) =>
      platform.runQueue.settle(source, token, left, { id, text: `text of ${id}`, emissions: 2 });
    const first = await settle("a", "100-run", 1);
    expect(first.acked).to.equal("ok");
    expect(await settle("a", "100-run", 1), "sent again").to.deep.equal(first);
    const second = await settle("a", "200-run", 0);
    expect(second.score - first.score).to.be.at.least(2);
    expect((await settle("other", "300-run", 0)).acked, "of another holder").to.equal("lost");
    expect(await claim(source, "a")).to.deep.equal({ state: "empty" });

    expect(await listSettled(platform, source)).to.deep.equal([
      { id: "100-run", atMs: 100 },
      { id: "200-run", atMs: 200 },
    ]);
    const { score } = first;
    expect(await readSettled(platform, source, "100-run")).to.deep.equal({ text: "text of 100-run", score });
    await push(source, "4");
    expect(await claim(source, "b")).to.include({ settled: 2 });
    await ack(source, "b");
    await forgetSettled(platform, source, ["100-run", "200-run"]);
    expect(await readSettled(platform, source, "100-run")).to.equal(null);
  });

  it("keeps a source on its list while something is left to be done for runs that are settled", async () => {
    const source = newId("dc");
    const listed = async () => (await platform.runQueue.findListed(Infinity, null)).listed.includes(source);
    await push(source, "1");
    await claim(source, "a");
    const entry = { id: "1-run", text: "{}", emissions: 0 };
    expect(await platform.runQueue.settle(source, "a", 0, entry)).to.deep.equal({ acked: "ok", score: 0 });
    // As if it had been listed long ago.
    await platform.redis.zadd(platform.keys.sourcesWithRuns(), 0, source);
    expect(await platform.runQueue.isStalled(source)).to.equal(false);
    expect(await listed()).to.equal(true);
    await forgetSettled(platform, source, ["1-run"]);
    expect(await platform.runQueue.isStalled(source)).to.equal(false);
    expect(await listed()).to.equal(false);
  });

  it("counts no crash of a holder that releases its lease", async () => {
    const source = newId("dc");
    await push(source, "1");
    for (let times = 0; times < 3; times++) {
      await claim(source, `stops ${times}`);
      await platform.runQueue.release(source, `stops ${times}`);
    }
    expect(await claim(source, "next")).to.deep.equal(unfinished("1", 1));
  });

  it("lets a job that is started again take over its own lease, and fences out its first execution", async () => {
    const source = newId("dc");
    await push(source, "1", "2");
    const [first, second] = [leaseToken("repeat:dc:7"), leaseToken("repeat:dc:7")];
    expect(await claim(source, first)).to.deep.equal(fresh("1"));
    expect(await claim(source, leaseToken("repeat:dc:8"))).to.deep.equal({ state: "busy" });

    expect(await claim(source, second)).to.deep.equal(unfinished("1", 1));
    expect(await ack(source, first)).to.equal("lost");
    expect(await platform.runQueue.renew(source, first, LEASE_MS)).to.equal(false);
    await platform.runQueue.nack(source, first);
    await platform.runQueue.release(source, first);
    expect(await ack(source, second)).to.equal("ok");
    expect(await claim(source, second)).to.deep.equal(fresh("2"));
  });

  it("asks for one notification, and for another once a worker has claimed runs", async () => {
    const source = newId("dc");
    const { notification } = await push(source, "1");
    expect(notification).to.be.a("string");
    expect((await push(source, "2")).notification).to.equal(null);
    expect(await platform.runQueue.notification(source)).to.equal(notification);
    await claim(source, "a");
    const next = (await push(source, "3")).notification;
    expect(next).to.be.a("string").and.not.equal(notification);
    expect(await platform.runQueue.notification(source, next ?? "")).not.to.equal(next);
  });

  it("asks for the same notification again if no worker came for a while: its job may be lost", async () => {
    const source = newId("dc");
    const { notification } = await push(source, "1");
    await platform.redis.set(platform.keys.runsNotified(source), `${notification} ${Date.now() - 6000}`);
    expect((await push(source, "2")).notification).to.equal(notification);
    expect((await push(source, "3")).notification).to.equal(null);
  });

  it("accepts runs up to its limit, and rejects the rest as full", async () => {
    const source = newId("dc");
    const atMostTwo = { ...UNBOUNDED, runs: 2 };
    expect(await platform.runQueue.push(source, ["1", "2", "3"], atMostTwo)).to.include({ accepted: 2 });
    expect(await platform.runQueue.push(source, ["4"], atMostTwo)).to.deep.equal({
      accepted: 0,
      notification: null,
    });
    expect(await platform.runQueue.length(source)).to.equal(2);
  });

  it("finds sources whose runs wait while no lease is held, and unlists empty ones", async () => {
    const [waiting, held, empty] = [newId("dc"), newId("dc"), newId("dc")];
    for (const source of [waiting, held, empty]) await push(source, "1");
    await claim(held, "holder");
    await claim(empty, "holder");
    await ack(empty, "holder");
    await claim(empty, "holder");
    const busyOnce = newId("dc");
    await push(busyOnce, "1");
    await claim(busyOnce, "holder");
    await ack(busyOnce, "holder");
    await claim(busyOnce, "holder");
    await platform.redis.zadd(platform.keys.sourcesWithRuns(), Date.now() - 60_000, empty);

    const { listed } = await platform.runQueue.findListed(Date.now() + 1, null);
    expect(listed).to.include.members([waiting, held, empty, busyOnce]);
    const stalled: string[] = [];
    for (const source of listed) if (await platform.runQueue.isStalled(source)) stalled.push(source);
    expect(stalled).to.include(waiting).and.not.include(held).and.not.include(empty);
    expect(await platform.redis.zscore(platform.keys.sourcesWithRuns(), empty)).to.equal(null);
    // Listed a moment ago: it may receive runs that do not list it again.
    expect(await platform.redis.zscore(platform.keys.sourcesWithRuns(), busyOnce)).to.be.a("string");
  });
});
