import { expect } from "chai";
import { Pool, type Slot } from "../../src/sandbox/pool.ts";
import type { CallError } from "../../src/sandbox/protocol.ts";
import type { Sandbox } from "../../src/sandbox/sandbox.ts";
import { until } from "../support/until.ts";
import { bundleOf } from "./sandbox-fixture.ts";

/** A pool whose processes are only counted, to test the rules of the pool itself. */
function countingPool(maxProcesses: number) {
  let alive = 0;
  let started = 0;
  const pool = new Pool({
    maxProcesses,
    idleMs: 60_000,
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
      return { gone, kill } as unknown as Sandbox;
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
    pool.release(neighbour, true);
    for (const key of ["g1", "g2", "g3"]) pool.release(await acquire(key, "greedy"), true);
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
});
