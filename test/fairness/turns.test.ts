import { expect } from "chai";
import { FairTurns } from "../../src/fairness/turns.ts";
import type { AppError } from "../../src/lib/errors.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";

describe("turns of accounts on a thread", () => {
  /** Asks for turns and returns the names in the order in which they started, with the turn of the event loop. */
  async function ask(turns: FairTurns, names: string[]) {
    const started: { name: string; turn: number }[] = [];
    let turn = 0;
    let isOver = false;
    const count = () => {
      turn += 1;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    await Promise.all(
      names.map(async name => {
        await turns.next(name.slice(0, 1));
        started.push({ name, turn });
      }),
    );
    isOver = true;
    return started;
  }
  const many = (account: string, count: number) => Array.from({ length: count }, (_, n) => `${account}${n}`);

  it("start the work of an account in order, and another account's before the rest of what one has waiting", async () => {
    const started = await ask(new FairTurns(), ["b0", ...many("a", 50), "b1", "c0"]);
    const names = started.map(({ name }) => name);
    expect(names.filter(name => name.startsWith("a"))).to.deep.equal(many("a", 50));
    expect(names.slice(0, 7)).to.have.members(["b0", "a0", "a1", "a2", "a3", "b1", "c0"]);
  });

  it("spread much work over turns of the event loop, but not that of the only account", async () => {
    const beside = await ask(new FairTurns(), ["b0", ...many("a", 40)]);
    expect(beside.at(-1)?.turn).to.be.within(8, 12);
    const alone = await ask(new FairTurns(), many("a", 40));
    expect(alone.at(-1)?.turn).to.equal(0);
    // Its pieces don't all start at once either: those that come for another account would wait for all of them.
    const much = await ask(new FairTurns(), many("a", 1000));
    expect(much.at(-1)?.turn).to.be.within(10, 20);
  });

  const turnsFor = async (names: string[], pressure: number) =>
    (await ask(new FairTurns({ thread: { pressure }, leastPerSecond: 0 }), names)).at(-1)?.turn ?? 0;

  it("leave time while it is scarce and several accounts have work, but not to one that is alone", async () => {
    const alone = await turnsFor(many("a", 20), 2);
    const beside = await turnsFor(["b0", "b1", ...many("a", 20)], 2);
    const idle = await turnsFor(["b0", "b1", ...many("a", 20)], 1);
    expect([alone, idle].map(turns => turns < 20)).to.deep.equal([true, true]);
    expect(beside).to.be.above(100);
  });

  it("hold back an account that uses more than the average, not one beside it that uses less", async () => {
    const turns = new FairTurns({ thread: { pressure: 2 }, leastPerSecond: 0 });
    const order: string[] = [];
    const ask = async (account: string) => {
      await turns.next(account);
      order.push(account);
    };
    const all = ["b", ...Array.from({ length: 20 }, () => "a")].map(ask);
    for (let n = 0; n < 8; n++) all.push(ask("b"));
    await Promise.all(all);
    expect(order.lastIndexOf("b")).to.be.below(15);
  });

  it("put off what an account asks for after a large piece of work, for as long as that took and more", async () => {
    const timeAfter = async (ms: number) => {
      const turns = new FairTurns({ thread: { pressure: 2 }, leastPerSecond: 0 });
      for (const account of ["b", "a", "a", "a"]) await turns.next(account);
      const startedAt = performance.now();
      turns.charge("a", ms);
      // The rest of the present turn, and one of the next.
      for (let n = 0; n < 5; n++) await turns.next("a");
      return performance.now() - startedAt;
    };
    // Twice the work, for the pressure on the thread; timers may be late, never early.
    expect(await timeAfter(400)).to.be.at.least(800);
  });
});

describe("the turns of requests", () => {
  const thread = { pressure: 16 };
  let turns: FairTurns;

  beforeEach(() => {
    thread.pressure = 16;
    turns = new FairTurns({ thread, leastPerSecond: 0, mostWaiting: LIMITS.requestsWaiting.value });
  });

  /** Fills the waiting room of an account while another one sends a request now and then. */
  async function fill(account: string): Promise<Promise<void>[]> {
    await turns.next("other");
    const waiting: Promise<void>[] = [];
    while (waiting.length < LIMITS.requestsWaiting.value) {
      const turn = turns.next(account);
      if (turn) waiting.push(turn);
    }
    return waiting;
  }

  it("are rejected with 429 beyond what may wait of one account, and another one's come at once", async () => {
    const waiting = await fill("a");
    const errorOf = (account: string) => {
      try {
        return turns.next(account) === undefined ? "none" : "waits";
      } catch (error) {
        return (error as AppError).code;
      }
    };
    expect(["a", "b"].map(errorOf)).to.deep.equal(["rate-limited", "none"]);
    thread.pressure = 1;
    await Promise.all(waiting);
    expect(errorOf("a")).not.to.equal("rate-limited");
  });

  it("count a large body as many requests", async () => {
    const shareOf = async (body: string) => {
      const own = new FairTurns({ thread: { pressure: 2 }, leastPerSecond: 0 });
      await own.next("other");
      const startedAt = performance.now();
      for (let n = 0; n < 8; n++) {
        await own.next("a");
        own.chargeBytes("a", body.length);
      }
      return performance.now() - startedAt;
    };
    expect((await shareOf("x".repeat(2_000_000))) / (await shareOf("x"))).to.be.above(3);
  });
});
