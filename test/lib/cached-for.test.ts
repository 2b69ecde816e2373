import { expect } from "chai";
import { cachedFor } from "../../src/lib/cached-for.ts";

describe("what is cached for a while", () => {
  it("is loaded once at a time, kept from its arrival on, and loaded again afterwards", async () => {
    let now = 0;
    let loads = 0;
    const arrivals: (() => void)[] = [];
    const cached = cachedFor(
      1000,
      () => {
        loads += 1;
        const n = loads;
        return new Promise<number>(resolve => arrivals.push(() => resolve(n)));
      },
      () => now,
    );
    const first = [cached(), cached()];
    now = 5000;
    first.push(cached());
    arrivals[0]?.();
    expect(await Promise.all(first)).to.deep.equal([1, 1, 1]);
    now = 5999;
    expect(await cached()).to.equal(1);
    now = 6000;
    const second = cached();
    arrivals[1]?.();
    expect([await second, loads]).to.deep.equal([2, 2]);
  });

  it("is not an error: after a rejection it is loaded again", async () => {
    let loads = 0;
    const cached = cachedFor(1000, async () => {
      loads += 1;
      if (loads === 1) throw new Error("away");
      return loads;
    });
    const message = await cached().catch((error: Error) => error.message);
    expect([message, await cached()]).to.deep.equal(["away", 2]);
  });
});
