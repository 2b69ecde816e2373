import { expect } from "chai";
import { cachedFor, openOnce, openPer } from "../../src/lib/lazy.ts";

describe("openOnce", () => {
  it("opens once for many callers, and again after a failure", async () => {
    let opens = 0;
    let fails = true;
    const thing = openOnce(async () => {
      opens += 1;
      if (fails) throw new Error("away");
      return opens;
    });
    expect(thing.current()).to.equal(undefined);
    const failed = await Promise.allSettled([thing.get(), thing.get()]);
    expect(failed.map(({ status }) => status)).to.deep.equal(["rejected", "rejected"]);
    expect(opens).to.equal(1);
    expect(thing.current()).to.equal(undefined);
    fails = false;
    expect(await Promise.all([thing.get(), thing.get()])).to.deep.equal([2, 2]);
    expect(await thing.current()).to.equal(2);
  });
});

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

describe("openPer", () => {
  it("opens one thing for each object, whatever it is, and by the object that is asked for", () => {
    let opened = 0;
    const nothingFor = openPer((_key: object) => {
      opened += 1;
      return undefined;
    });
    const [one, other] = [{}, {}];
    for (const key of [one, other, one]) expect(nothingFor(key)).to.equal(undefined);
    expect(opened).to.equal(2);
    const byRedis = openPer(
      ({ name }: { name: string; redis: object }) => ({ name }),
      ({ redis }) => redis,
    );
    expect(byRedis({ name: "first", redis: one })).to.equal(byRedis({ name: "second", redis: one }));
    expect(byRedis({ name: "third", redis: other }).name).to.equal("third");
  });
});
