import { expect } from "chai";
import { SlotShares } from "../../src/queues/slot-shares.ts";
import { until } from "../support/until.ts";

describe("the slots of a worker", () => {
  const thread = { isBusy: false };
  let shares: SlotShares;

  beforeEach(() => {
    thread.isBusy = false;
    shares = new SlotShares(8, () => Promise.resolve(false), thread);
  });
  afterEach(() => shares.close());

  /** Asks for slots and returns how many are given at once. */
  async function acquire(account: string, count: number): Promise<number> {
    let given = 0;
    for (let n = 0; n < count; n++) {
      void shares.acquire(account).then(hasSlot => {
        if (hasSlot) given += 1;
      });
    }
    await new Promise(resolve => setImmediate(resolve));
    return given;
  }

  it("are three quarters for one account, however busy the thread is, as long as it is alone", async () => {
    thread.isBusy = true;
    expect(await acquire("a", 10)).to.equal(6);
  });

  it("are one for each account while the thread is busy and several have jobs, and more once it is not", async () => {
    await acquire("b", 1);
    shares.release("b");
    thread.isBusy = true;
    expect(await acquire("a", 4)).to.equal(1);
    expect(await acquire("b", 1)).to.equal(1);
    thread.isBusy = false;
    let given = 0;
    void shares.acquire("a").then(() => {
      given += 1;
    });
    shares.release("b");
    await until(() => given === 1);
  });

  it("rest after a long job while they are scarce, so that others find time; not otherwise", async () => {
    await acquire("b", 1);
    thread.isBusy = true;
    expect(await acquire("a", 1)).to.equal(1);
    shares.release("a", 100);
    expect(await acquire("a", 1)).to.equal(0);
    expect(await acquire("c", 1)).to.equal(1);
    thread.isBusy = false;
    shares.release("c", 100);
    expect(await acquire("c", 1)).to.equal(1);
  });
});
