import { expect } from "chai";
import { newId } from "../../../src/lib/ids.ts";
import { type MemoryShare, openQueuedBytes } from "../../../src/store/limits/waiting-bytes.ts";
import {
  openRunQueue,
  type QueueBounds,
  type RunQueue,
  UNBOUNDED,
} from "../../../src/store/runs/run-queue.ts";
import { openTestPlatform, type TestPlatform } from "../../support/platform.ts";

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

  /** Pushes runs; returns how many were accepted. */
  const push = async (to: RunQueue, runs: string[], most: QueueBounds, source = newId("dc")) =>
    (await to.push(source, runs, most)).accepted;

  it("of one source are bounded exactly, in order, until runs are acknowledged", async () => {
    const { runQueue } = open();
    const source = newId("dc");
    const most = bounds(newId("u"), { bytes: 10 });
    expect(await push(runQueue, [run(4), run(6), run(1)], most, source)).to.equal(2);
    await runQueue.claim(source, "a", 10_000, 1);
    expect(await push(runQueue, [run(1)], most, source), "claimed runs are in Redis too").to.equal(0);
    await runQueue.ack(source, "a", 0);
    expect(await push(runQueue, [run(5), run(1)], most, source), "only a run that fits").to.equal(0);
    expect(await push(runQueue, [run(4)], most, source)).to.equal(1);
  });

  it("of all sources of an account are bounded, whichever process took them, and of no other account", async () => {
    const [first, second] = [open(), open()];
    const owner = newId("u");
    const most = bounds(owner, { accountBytes: 200 * KB });
    const sources = Array.from({ length: 5 }, () => newId("dc"));
    for (const source of sources) await first.runQueue.push(source, [run(40 * KB)], most);
    expect(await first.queued.read(owner)).to.equal(200 * KB);
    expect(await push(first.runQueue, [run(1)], most)).to.equal(0);
    await second.runQueue.push(newId("dc"), [run(40 * KB)], most);
    expect(await push(second.runQueue, [run(1)], most), "learned by its own report").to.equal(0);
    const other = bounds(newId("u"), { accountBytes: 200 * KB });
    expect(await push(first.runQueue, [run(1)], other)).to.equal(1);
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
    await runQueue.ack(done, "a", 0);
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
    expect(await push(runQueue, [run(1)], most)).to.equal(1);
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
    expect(await push(runQueue, [run(1)], heavy)).to.equal(0);
    expect(await push(runQueue, [run(1)], light)).to.equal(1);
    allowed = 0;
    const failure = await runQueue.push(newId("dc"), [run(1)], light).catch((error: unknown) => error);
    expect(failure).to.include({ code: "unavailable", retryAfterMs: 5000 });
  });

  it("include changes, of which few may wait, but any number of deletions", async () => {
    const { runQueue } = open();
    const source = newId("dc");
    const accepted = async (most: number) => (await runQueue.pushChange(source, "{}", most)).accepted;
    expect(await accepted(1)).to.equal(1);
    expect(await accepted(1)).to.equal(0);
    expect(await accepted(0)).to.equal(1);
  });
});
