import { expect } from "chai";
import { newId } from "../../src/lib/ids.ts";
import type { MemoryShare } from "../../src/store/memory-share.ts";
import { openQueuedBytes } from "../../src/store/queued-bytes.ts";
import { openRunQueue, type QueueBounds, UNBOUNDED } from "../../src/store/run-queue.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";

const KB = 1024;
const run = (bytes: number) => "x".repeat(bytes);

describe("bytes that wait in run queues", () => {
  let platform: TestPlatform;
  before(async () => {
    platform = await openTestPlatform();
  });
  after(() => platform.destroy());

  /** The run queue as one more process opens it. */
  function open(memory: MemoryShare = { allowed: () => 1 }) {
    const { redis, keys } = platform;
    const queued = openQueuedBytes(redis, keys);
    return { queued, runQueue: openRunQueue(redis, keys, { clock: Date.now, queued, memory }) };
  }
  const bounds = (ownerId: string, changes: Partial<QueueBounds> = {}): QueueBounds => ({
    ...UNBOUNDED,
    ownerId,
    ...changes,
  });

  it("of one source are bounded exactly, in order, until runs are acknowledged", async () => {
    const { runQueue } = open();
    const source = newId("dc");
    const most = bounds(newId("u"), { bytes: 10 });
    expect(await runQueue.push(source, [run(4), run(6), run(1)], most)).to.deep.equal([
      ...["notify", "queued"],
      "full",
    ]);
    await runQueue.claim(source, "a", 10_000, 1);
    expect(await runQueue.push(source, [run(1)], most), "claimed runs are in Redis too").to.deep.equal([
      "full",
    ]);
    await runQueue.ack(source, "a", 1);
    expect(await runQueue.push(source, [run(5), run(1)], most), "only a run that fits").to.deep.equal([
      "full",
      "full",
    ]);
    expect(await runQueue.push(source, [run(4)], most)).to.deep.equal(["notify"]);
  });

  it("of all sources of an account are bounded, whichever process took them, and of no other account", async () => {
    const [first, second] = [open(), open()];
    const owner = newId("u");
    const most = bounds(owner, { accountBytes: 200 * KB });
    const sources = Array.from({ length: 5 }, () => newId("dc"));
    for (const source of sources) await first.runQueue.push(source, [run(40 * KB)], most);
    expect(await first.queued.read(owner)).to.equal(200 * KB);
    expect(await first.runQueue.push(newId("dc"), [run(1)], most)).to.deep.equal(["full"]);
    await second.runQueue.push(newId("dc"), [run(40 * KB)], most);
    expect(
      await second.runQueue.push(newId("dc"), [run(1)], most),
      "learned by its own report",
    ).to.deep.equal(["full"]);
    expect(
      await first.runQueue.push(
        newId("dc"),
        [run(1)],
        bounds(newId("u"), most && { accountBytes: 200 * KB }),
      ),
    ).to.deep.equal(["notify"]);
  });

  it("are free again once runs are done or their source is deleted", async () => {
    const { runQueue, queued } = open();
    const owner = newId("u");
    const [done, deleted] = [newId("dc"), newId("dc")];
    await runQueue.push(done, [run(50 * KB), run(50 * KB)], bounds(owner));
    await runQueue.push(deleted, [run(50 * KB)], bounds(owner));
    await runQueue.claim(done, "a", 10_000, 9);
    await runQueue.ack(done, "a", 1);
    expect(await queued.read(owner)).to.equal(100 * KB);
    await runQueue.ack(done, "a", 1);
    await runQueue.delete(deleted);
    expect(await queued.read(owner)).to.equal(0);
    expect(
      await platform.redis.exists(platform.keys.queuedBytes(owner), platform.keys.queueSize(done)),
    ).to.equal(0);
  });

  it("are counted again before an account is rejected: a process may have died before it reported", async () => {
    const { runQueue, queued } = open();
    const owner = newId("u");
    await queued.report(owner, newId("dc"), 500 * KB);
    const most = bounds(owner, { accountBytes: 100 * KB });
    expect(await runQueue.push(newId("dc"), [run(1)], most)).to.deep.equal(["notify"]);
    expect(await queued.read(owner)).to.equal(0);
  });

  it("shrink for everybody with Redis' memory, so that accounts with little waiting go on", async () => {
    let allowed = 1;
    const { runQueue } = open({ allowed: () => allowed });
    const [heavy, light] = [
      bounds(newId("u"), { accountBytes: 1000 * KB }),
      bounds(newId("u"), { accountBytes: 1000 * KB }),
    ];
    await runQueue.push(newId("dc"), [run(200 * KB)], heavy);
    await runQueue.push(newId("dc"), [run(40 * KB)], light);
    allowed = 0.1;
    expect(await runQueue.push(newId("dc"), [run(1)], heavy)).to.deep.equal(["full"]);
    expect(await runQueue.push(newId("dc"), [run(1)], light)).to.deep.equal(["notify"]);
    allowed = 0;
    const failure = await runQueue.push(newId("dc"), [run(1)], light).catch((error: unknown) => error);
    expect(failure).to.include({ code: "unavailable", retryAfterMs: 5000 });
  });

  it("include changes, of which few may wait, but any number of deletions", async () => {
    const { runQueue } = open();
    const source = newId("dc");
    expect(await runQueue.pushChange(source, "1", 1)).to.equal("notify");
    expect(await runQueue.pushChange(source, "2", 1)).to.equal("full");
    expect(await runQueue.pushChange(source, "3", 0)).to.equal("queued");
  });
});
