import { expect } from "chai";
import { createPool, type Pool, type Slot } from "../../src/sandbox/pool.ts";
import type { CallError } from "../../src/sandbox/protocol.ts";
import type { Sandbox } from "../../src/sandbox/sandbox.ts";
import { until } from "../support/until.ts";
import { bundleOf } from "./sandbox-fixture.ts";

/** The pool's own rules, over processes that only count. */
function countingPool(maxProcesses: number) {
  let alive = 0;
  let started = 0;
  const pool = createPool({
    maxProcesses,
    idleMs: 60_000,
    open: async () => {
      alive += 1;
      started += 1;
      let leave = (_error: CallError) => {};
      const gone = new Promise<CallError>(done => {
        leave = done;
      });
      const kill = (reason: CallError) => leave(reason);
      void gone.then(() => {
        alive -= 1;
      });
      return { gone, kill } as unknown as Sandbox;
    },
  });
  return { pool, alive: () => alive, started: () => started };
}

const bundle = bundleOf("");

describe("places for sandboxes", () => {
  let pool: Pool;
  afterEach(() => pool.close());

  const acquire = (key: string, owner?: string) => pool.acquire(key, bundle, { owner });

  it("are never all held by one owner, even when nobody else is there yet", async () => {
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

  it("go to the owner who holds the fewest, whoever came first", async () => {
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

  it("are given in order among the calls of one owner", async () => {
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

  it("are taken from whoever keeps the most processes warm, not from the neighbour who was idle longest", async () => {
    ({ pool } = countingPool(4));
    const neighbour = await acquire("n1", "neighbour");
    pool.release(neighbour, true);
    for (const key of ["g1", "g2", "g3"]) pool.release(await acquire(key, "greedy"), true);
    pool.release(await acquire("g4", "greedy"), true);
    const again = await acquire("n1", "neighbour");
    expect(again).to.equal(neighbour);
  });

  it("stay with a source that works off its backlog for a while, though others wait", async () => {
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
      // In the end the place is not given back but to the one who waits.
      busy = (await Promise.race([acquire("busy", "a"), served])) ?? undefined;
      calls += 1;
      // Someone else's turn of the event loop, as a call would give.
      await new Promise(setImmediate);
    }
    expect(isServed, "nobody waits for ever").to.equal(true);
    expect(calls, "calls in one tenure").to.be.above(50);
  });

  it("are not freed twice for one who waits", async () => {
    const counted = countingPool(4);
    ({ pool } = counted);
    for (let n = 0; n < 4; n++) pool.release(await acquire(`k${n}`), true);
    await Promise.all([acquire("new"), acquire("k3")]);
    expect(counted.alive()).to.equal(4);
    expect(counted.started()).to.equal(5);
  });

  it("are left in line when the caller gives up", async () => {
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
