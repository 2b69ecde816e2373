import { expect } from "chai";
import { newId } from "../../src/store/ids.ts";
import { leaseToken } from "../../src/store/run-line.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";

describe("run line", () => {
  let platform: TestPlatform;
  before(async () => {
    platform = await openTestPlatform();
  });
  after(() => platform.destroy());

  const LEASE_MS = 10_000;
  const take = (source: string, token: string) => platform.runLine.take(source, token, LEASE_MS);

  it("gives runs in order of arrival, to one holder only", async () => {
    const source = newId("dc");
    expect(await platform.runLine.push(source, "1", "back", 0)).to.equal("wake");
    expect(await platform.runLine.push(source, "2", "back", 0)).to.equal("awake");

    expect(await take(source, "a")).to.deep.equal({ state: "run", run: "1" });
    expect(await take(source, "b")).to.deep.equal({ state: "busy" });
    expect(await platform.runLine.finish(source, "b")).to.equal(false);
    expect(await platform.runLine.finish(source, "a")).to.equal(true);
    expect(await take(source, "a")).to.deep.equal({ state: "run", run: "2" });
    await platform.runLine.finish(source, "a");
    expect(await take(source, "a")).to.deep.equal({ state: "empty" });
    expect(await take(source, "b")).to.deep.equal({ state: "empty" });
  });

  it("gives the run that a holder did not finish to the next one first", async () => {
    const source = newId("dc");
    await platform.runLine.push(source, "1", "back", 0);
    await platform.runLine.push(source, "2", "back", 0);
    await take(source, "killed");
    await platform.redis.del(platform.keys.runLease(source));
    await platform.runLine.push(source, "urgent", "front", 0);

    expect(await take(source, "next")).to.deep.equal({ state: "run", run: "1" });
    await platform.runLine.finish(source, "next");
    expect(await take(source, "next")).to.deep.equal({ state: "run", run: "urgent" });
  });

  it("lets the same job, given out again, take its lease over, and fences its earlier execution out", async () => {
    const source = newId("dc");
    await platform.runLine.push(source, "1", "back", 0);
    await platform.runLine.push(source, "2", "back", 0);
    const [first, second] = [leaseToken("repeat:dc:7"), leaseToken("repeat:dc:7")];
    expect(await take(source, first)).to.deep.equal({ state: "run", run: "1" });
    expect(await take(source, leaseToken("repeat:dc:8"))).to.deep.equal({ state: "busy" });

    expect(await take(source, second)).to.deep.equal({ state: "run", run: "1" });
    expect(await platform.runLine.finish(source, first)).to.equal(false);
    expect(await platform.runLine.renew(source, first, LEASE_MS)).to.equal(false);
    await platform.runLine.release(source, first);
    expect(await platform.runLine.finish(source, second)).to.equal(true);
    expect(await take(source, second)).to.deep.equal({ state: "run", run: "2" });
  });

  it("asks for a wake again once a worker has begun", async () => {
    const source = newId("dc");
    await platform.runLine.push(source, "1", "back", 0);
    await take(source, "a");
    expect(await platform.runLine.push(source, "2", "back", 0)).to.equal("wake");
  });

  it("refuses more than the longest line allowed", async () => {
    const source = newId("dc");
    await platform.runLine.push(source, "1", "back", 1);
    expect(await platform.runLine.push(source, "2", "back", 1)).to.equal("full");
    expect(await platform.runLine.length(source)).to.equal(1);
  });

  it("names sources whose runs nobody works on, and forgets those that are empty", async () => {
    const [waiting, held, empty] = [newId("dc"), newId("dc"), newId("dc")];
    for (const source of [waiting, held, empty]) await platform.runLine.push(source, "1", "back", 0);
    await take(held, "holder");
    await take(empty, "holder");
    await platform.runLine.finish(empty, "holder");
    await take(empty, "holder");

    const stuck = await platform.runLine.stuck(Date.now() + 1);
    expect(stuck).to.include(waiting).and.not.include(held).and.not.include(empty);
    expect(await platform.redis.zscore(platform.keys.runLines(), empty)).to.equal(null);
  });
});
