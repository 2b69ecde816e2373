import { expect } from "chai";
import { createBatcher } from "../../src/lib/batcher.ts";
import { AppError } from "../../src/lib/errors.ts";
import { rejection } from "../components/rejection.ts";
import { until } from "../support/until.ts";

describe("batcher", () => {
  /** Returns work that ends when `end` is called, and the batches that it received. */
  function controlledWork() {
    const batches: number[][] = [];
    const ends: (() => void)[] = [];
    const work = async (batch: number[]) => {
      batches.push(batch);
      await new Promise<void>(resolve => ends.push(resolve));
      return batch.map(n => n * 10);
    };
    return { work, batches, end: () => ends.shift()?.() };
  }
  const tick = () => new Promise(resolve => setImmediate(() => setImmediate(resolve)));

  it("batches entries that arrive while earlier work is in progress, and returns each its own result", async () => {
    const { work, batches, end } = controlledWork();
    const call = createBatcher(work, { maxWeight: 10 });
    const first = call(1);
    await tick();
    const rest = [call(2), call(3), call(4)];
    await tick();
    expect(batches).to.deep.equal([[1]]);
    end();
    expect(await first).to.equal(10);
    await tick();
    expect(batches).to.deep.equal([[1], [2, 3, 4]]);
    end();
    expect(await Promise.all(rest)).to.deep.equal([20, 30, 40]);
  });

  it("takes the entries of accounts in turn, and puts no heavy entry into a batch with another account's", async () => {
    const batches: string[][] = [];
    const ends: (() => void)[] = [];
    const call = createBatcher(
      async (batch: string[]) => {
        batches.push(batch);
        await new Promise<void>(resolve => ends.push(resolve));
      },
      { maxWeight: 8, weigh: entry => entry.length, accountOf: entry => entry.slice(0, 1) },
    );
    // Letters are the weight: above one eighth of a batch, an entry is heavy.
    const calls = ["a", "aaaa", "aaaa", "aaaa", "aaaa", "b", "c"].map(entry => call(entry));
    for (let done = 0; done < 4; done++) {
      await tick();
      ends.shift()?.();
    }
    await Promise.all(calls);
    expect(batches.flat().sort()).to.deep.equal(["a", "aaaa", "aaaa", "aaaa", "aaaa", "b", "c"]);
    expect(batches[0]).to.deep.equal(["a", "b", "c"]);
    for (const batch of batches.slice(1)) expect(new Set(batch.map(entry => entry[0])).size).to.equal(1);
  });

  it("limits the weight and the number of batches, and lets a heavier entry go alone", async () => {
    const { work, batches, end } = controlledWork();
    const call = createBatcher(work, { maxWeight: 5, concurrency: 2, weigh: n => n });
    const results = [2, 3, 9, 1, 1].map(n => call(n));
    await tick();
    expect(batches).to.deep.equal([[2, 3], [9]]);
    end();
    await tick();
    expect(batches).to.deep.equal([[2, 3], [9], [1, 1]]);
    end();
    end();
    expect(await Promise.all(results)).to.deep.equal([20, 30, 90, 10, 10]);
  });

  it("lingers for more entries, but not once the flush weight is reached", async () => {
    const { work, batches, end } = controlledWork();
    const call = createBatcher(work, { maxWeight: 10, concurrency: 2, lingerMs: 20, flushWeight: 3 });
    const few = [call(1), call(2)];
    await tick();
    expect(batches).to.deep.equal([]);
    await until(async () => batches.length === 1);
    expect(batches).to.deep.equal([[1, 2]]);
    const many = [call(3), call(4), call(5)];
    await tick();
    expect(batches).to.deep.equal([
      [1, 2],
      [3, 4, 5],
    ]);
    end();
    end();
    expect(await Promise.all([...few, ...many])).to.deep.equal([10, 20, 30, 40, 50]);
  });

  it("retries a failed batch entry by entry, so that a bad entry fails no other", async () => {
    const batches: number[][] = [];
    const call = createBatcher(
      async (batch: number[]) => {
        batches.push(batch);
        if (batch.includes(2)) throw new Error("two");
        return batch;
      },
      { maxWeight: 10 },
    );
    const [one, two, three] = [call(1), call(2).catch((error: Error) => error), call(3)];
    expect(await Promise.all([one, three])).to.deep.equal([1, 3]);
    expect(await two).to.include({ message: "two" });
    expect(batches).to.deep.equal([[1, 2, 3], [1], [2], [3]]);
  });

  it("fails every entry, waiting ones too, with one call if a store is unavailable", async () => {
    let calls = 0;
    const call = createBatcher(
      async (): Promise<number[]> => {
        calls += 1;
        await tick();
        throw new AppError("unavailable", "away");
      },
      { maxWeight: 2 },
    );
    const errors = await Promise.all([1, 2, 3].map(n => rejection(call(n))));
    expect(errors.map(({ code }) => code)).to.deep.equal(["unavailable", "unavailable", "unavailable"]);
    expect(calls).to.equal(1);
  });
});
