import { expect } from "chai";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { Pool, type PoolOptions } from "../../src/sandbox/pool.ts";
import type { Slot } from "../../src/sandbox/pool-processes.ts";
import type { CallError } from "../../src/sandbox/protocol.ts";
import type { Sandbox } from "../../src/sandbox/sandbox.ts";
import { until } from "../support/until.ts";
import { bundleOf } from "./sandbox-fixture.ts";

/** A pool whose processes are only counted, to test the rules of the pool itself. */
function countingPool(maxProcesses: number, more: Partial<PoolOptions> = {}, ownBytes = 0) {
  let alive = 0;
  let started = 0;
  const pool = new Pool({
    maxProcesses,
    idleMs: 60_000,
    ...more,
    open: async () => {
      alive += 1;
      started += 1;
      let end = (_error: CallError) => {};
      const gone = new Promise<CallError>(done => {
        end = done;
      });
      const kill = (reason: CallError) => end(reason);
      void gone.then(() => {
        alive -= 1;
      });
      return { gone, kill, served: () => ({ ownBytes }) } as unknown as Sandbox;
    },
  });
  return { pool, alive: () => alive, started: () => started };
}

const bundle = bundleOf("");

describe("a pool of sandboxes", () => {
  let pool: Pool;
  afterEach(() => pool.close());

  const acquire = (key: string, owner?: string) => pool.acquire(key, bundle, { owner });

  it("never gives all processes to one owner, even if there is no other owner yet", async () => {
    for (const [max, share] of [
      [1, 1],
      [2, 1],
      [4, 3],
      [16, 12],
    ] as const) {
      ({ pool } = countingPool(max));
      const held: Slot[] = [];
      for (let n = 0; n < 20; n++)
        void acquire(`greedy-${n}`, "greedy").then(
          slot => held.push(slot),
          () => undefined,
        );
      await until(() => held.length === share, { what: `${share} of ${max}` });
      if (max > 1) {
        await acquire("other", "modest");
        expect(held.length).to.equal(share);
      }
      await pool.close();
    }
  });

  it("gives an owner the share of docs/limits.md", async () => {
    const max = 20;
    ({ pool } = countingPool(max));
    const held: Slot[] = [];
    for (let n = 0; n < max; n++) {
      void acquire(`${n}`, "greedy").then(
        slot => held.push(slot),
        () => undefined,
      );
    }
    const share = (max * LIMITS.accountSharePercent.value) / 100;
    await until(() => held.length === share);
    await acquire("other", "modest");
    expect(held.length).to.equal(share);
  });

  it("gives a free process to the owner that uses the fewest, not to the first in the queue", async () => {
    ({ pool } = countingPool(4));
    const order: string[] = [];
    const held = await Promise.all([
      acquire("a1", "a"),
      acquire("a2", "a"),
      acquire("b1", "b"),
      acquire("c1", "c"),
    ]);
    for (const [key, owner] of [
      ["a3", "a"],
      ["a4", "a"],
      ["b2", "b"],
      ["d1", "d"],
    ] as const) {
      void acquire(key, owner).then(
        () => order.push(key),
        () => undefined,
      );
    }
    for (const slot of held.slice(2)) pool.release(slot, false);
    await until(() => order.length === 2);
    expect(order).to.have.members(["d1", "b2"]);
  });

  it("serves the calls of one owner in order", async () => {
    ({ pool } = countingPool(2));
    const order: number[] = [];
    const first = await acquire("k0", "a");
    for (let n = 1; n < 4; n++) {
      void acquire(`k${n}`, "a").then(slot => {
        order.push(n);
        pool.release(slot, false);
      });
    }
    pool.release(first, false);
    await until(() => order.length === 3);
    expect(order).to.deep.equal([1, 2, 3]);
  });

  it("ends an idle process of the owner with the most processes, not the one that was idle longest", async () => {
    ({ pool } = countingPool(4));
    const neighbour = await acquire("n1", "neighbour");
    const greedy = [];
    for (const key of ["g1", "g2", "g3"]) greedy.push(await acquire(key, "greedy"));
    // At once: one that is idle for less than a moment is not ended at all.
    for (const slot of [neighbour, ...greedy]) pool.release(slot, true);
    pool.release(await acquire("g4", "greedy"), true);
    const again = await acquire("n1", "neighbour");
    expect(again).to.equal(neighbour);
  });

  it("leaves a process with a source that handles a backlog for a while, although others wait", async () => {
    ({ pool } = countingPool(2));
    await acquire("other", "b");
    let busy: Slot | undefined = await acquire("busy", "a");
    let isServed = false;
    const served = acquire("waiting", "c").then(() => {
      isServed = true;
    });
    let calls = 0;
    while (busy && !isServed) {
      pool.release(busy, true);
      // In the end, the waiting call gets a process instead.
      busy = (await Promise.race([acquire("busy", "a"), served])) ?? undefined;
      calls += 1;
      // A turn of the event loop, which a real call would take too.
      await new Promise(setImmediate);
    }
    expect(isServed, "the waiting call is served").to.equal(true);
    expect(calls, "calls in one tenure").to.be.above(50);
  });

  it("does not end two processes for one waiting call", async () => {
    const counted = countingPool(4);
    ({ pool } = counted);
    for (let n = 0; n < 4; n++) pool.release(await acquire(`k${n}`), true);
    await Promise.all([acquire("new"), acquire("k3")]);
    expect(counted.alive()).to.equal(4);
    expect(counted.started()).to.equal(5);
  });

  it("removes a caller that gives up from the queue", async () => {
    ({ pool } = countingPool(1));
    const held = await acquire("a");
    const stop = new AbortController();
    const waiting = pool.acquire("b", bundle, { signal: stop.signal }).catch(() => "left");
    stop.abort();
    expect(await waiting).to.equal("left");
    pool.release(held, true);
    expect(await acquire("a")).to.equal(held);
  });

  it("keeps more processes warm than are in use at a time, as far as memory permits", async () => {
    const MB = 1024 * 1024;
    const counted = countingPool(2, { warm: { bytes: 200 * MB, processes: 100 } }, 50 * MB);
    ({ pool } = counted);
    const use = async (key: string) => pool.release(await acquire(key), true);
    // The fifth has 50 MB as well, once it was used.
    for (let n = 0; n < 4; n++) await use(`k${n}`);
    expect(counted.alive()).to.equal(4);
    await use("k4");
    await until(() => counted.alive() === 4, { what: "room for four" });
    const held = [await acquire("k0"), await acquire("x", "other")];
    let isServed = false;
    void acquire("y", "third").then(
      () => {
        isServed = true;
      },
      () => undefined,
    );
    await new Promise(setImmediate);
    expect(isServed, "a third call at the same time").to.equal(false);
    for (const slot of held) pool.release(slot, true);
    await until(() => isServed);
  });

  it("ends a process that was used once before those that are used again and again", async () => {
    const counted = countingPool(3);
    ({ pool } = counted);
    const use = async (key: string) => pool.release(await acquire(key, "timers"), true);
    for (const key of ["a", "b", "a", "b", "once", "new"]) await use(key);
    const started = counted.started();
    for (const key of ["a", "b"]) await use(key);
    expect(counted.started()).to.equal(started);
  });

  it("lets a call of its own key wait for the call under way, and one of another key go to another process", async () => {
    ({ pool } = countingPool(4, { maxKeysPerProcess: 8 }));
    const share = (key: string) => pool.acquire(key, bundle, { owner: "a", isShareable: true });
    const first = await share("one");
    let isServed = false;
    const again = share("one").then(slot => {
      isServed = true;
      return slot;
    });
    const second = await share("two");
    expect(second.sandbox).to.not.equal(first.sandbox);
    expect(isServed).to.equal(false);
    const third = share("three");
    pool.release(second, true);
    expect((await third).sandbox, "a busy one is soon free").to.equal(second.sandbox);
    pool.release(first, true);
    expect((await again).sandbox).to.equal(first.sandbox);
  });
});
