import { expect } from "chai";
import { SlotShares } from "../../src/fairness/slot-shares.ts";
import { until } from "../support/until.ts";

describe("the slots of a worker", () => {
  const thread = { pressure: 1 };
  /** The processor's time of the process so far. */
  let cpuMs = 0;
  let shares: SlotShares;

  beforeEach(() => {
    thread.pressure = 1;
    shares = new SlotShares(8, () => Promise.resolve(false), { thread, usedMs: () => cpuMs });
  });
  afterEach(() => shares.close());

  /** Asks for slots and returns how many are given at once. */
  async function acquire(account: string, count: number, cost = 1): Promise<number> {
    let given = 0;
    for (let n = 0; n < count; n++) {
      void shares.acquire(account, cost).then(hasSlot => {
        if (hasSlot) given += 1;
      });
    }
    await new Promise(resolve => setImmediate(resolve));
    return given;
  }

  it("are three quarters for one account, however scarce time is, as long as it is alone", async () => {
    thread.pressure = 2;
    expect(await acquire("a", 10)).to.equal(6);
  });

  it("count what jobs cost beside other accounts, and only then", async () => {
    expect(await acquire("alone", 3, 100)).to.equal(3);
    for (let n = 0; n < 3; n++) shares.release("alone", 100);
    await acquire("b", 1);
    expect(await acquire("a", 1, 100)).to.equal(1);
    expect(await acquire("a", 1)).to.equal(0);
    shares.release("a", 100);
    expect(await acquire("a", 3)).to.equal(3);
  });

  /** Both have jobs; those of `a` use the processor for a second, those of `b` hardly. */
  async function useMuch() {
    await acquire("b", 1);
    cpuMs += 10;
    shares.release("b");
    expect(await acquire("a", 3)).to.equal(3);
    cpuMs += 3000;
    shares.release("a");
    thread.pressure = 2;
  }

  it("are one for an account that uses more than others while time is scarce, and more once it is not", async () => {
    await useMuch();
    let given = 0;
    void shares.acquire("a").then(() => {
      given += 1;
    });
    shares.release("a");
    expect(await acquire("b", 4)).to.equal(4);
    expect(given).to.equal(0);
    thread.pressure = 1;
    await until(() => given === 1);
  });

  it("rest after much work while they are scarce, so that others find time", async () => {
    await useMuch();
    cpuMs += 200;
    for (let n = 0; n < 2; n++) shares.release("a");
    expect(await acquire("a", 1)).to.equal(0);
    expect(await acquire("c", 1)).to.equal(1);
  });

  it("do not rest after a job that only waited, nor is its account held back", async () => {
    await acquire("b", 1);
    expect(await acquire("a", 3)).to.equal(3);
    thread.pressure = 16;
    for (let n = 0; n < 3; n++) shares.release("a");
    expect(await acquire("a", 3)).to.equal(3);
  });
});
