import { expect } from "chai";
import { FairTurns } from "../../src/lib/fair-turns.ts";

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
    const started = await ask(new FairTurns(), [...many("a", 50), "b0", "c0"]);
    const names = started.map(({ name }) => name);
    expect(names.filter(name => name.startsWith("a"))).to.deep.equal(many("a", 50));
    expect(names.slice(0, 6)).to.have.members(["a0", "a1", "a2", "a3", "b0", "c0"]);
  });

  it("spread much work over turns of the event loop", async () => {
    const started = await ask(new FairTurns(), many("a", 40));
    expect(started.at(-1)?.turn).to.be.within(8, 12);
  });

  it("leave time on a busy thread as long as several accounts have work, but not to one that is alone", async () => {
    const turnsFor = async (names: string[], isBusy: boolean) =>
      (await ask(new FairTurns({ isBusy }), names)).at(-1)?.turn ?? 0;
    const alone = await turnsFor(many("a", 40), true);
    const beside = await turnsFor(["b0", ...many("a", 40)], true);
    const idle = await turnsFor(["b0", ...many("a", 40)], false);
    expect([alone, idle].map(turns => turns < 20)).to.deep.equal([true, true]);
    expect(beside).to.be.above(20 * alone);
  });
});
