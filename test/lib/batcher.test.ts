import { expect } from "chai";
import { createBatcher } from "../../src/lib/batcher.ts";
import { AppError } from "../../src/lib/errors.ts";
import { rejection } from "../components/rejection.ts";
import { until } from "../support/until.ts";

describe("gather", () => {
  /** Work that ends when told, and what it was given. */
  function held() {
    const batches: number[][] = [];
    const ends: (() => void)[] = [];
    const work = async (batch: number[]) => {
      batches.push(batch);
      await new Promise<void>(resolve => ends.push(resolve));
      return batch.map(n => n * 10);
    };
    return { work, batches, end: () => ends.shift()?.() };
  }
  const turn = () => new Promise(resolve => setImmediate(() => setImmediate(resolve)));

  it("puts together what comes while earlier work is under way, and gives each its own answer", async () => {
    const { work, batches, end } = held();
    const call = createBatcher(work, { maxWeight: 10 });
    const first = call(1);
    await turn();
    const rest = [call(2), call(3), call(4)];
    await turn();
    expect(batches).to.deep.equal([[1]]);
    end();
    expect(await first).to.equal(10);
    await turn();
    expect(batches).to.deep.equal([[1], [2, 3, 4]]);
    end();
    expect(await Promise.all(rest)).to.deep.equal([20, 30, 40]);
  });

  it("keeps batches within their weight, an entry above it alone, and as many at once as allowed", async () => {
    const { work, batches, end } = held();
    const call = createBatcher(work, { maxWeight: 5, concurrency: 2, weigh: n => n });
    const answers = [2, 3, 9, 1, 1].map(n => call(n));
    await turn();
    expect(batches).to.deep.equal([[2, 3], [9]]);
    end();
    await turn();
    expect(batches).to.deep.equal([[2, 3], [9], [1, 1]]);
    end();
    end();
    expect(await Promise.all(answers)).to.deep.equal([20, 30, 90, 10, 10]);
  });

  it("waits for company for as long as it is told, and no longer once there is enough", async () => {
    const { work, batches, end } = held();
    const call = createBatcher(work, { maxWeight: 10, concurrency: 2, lingerMs: 20, flushWeight: 3 });
    const few = [call(1), call(2)];
    await turn();
    expect(batches).to.deep.equal([]);
    await until(async () => batches.length === 1);
    expect(batches).to.deep.equal([[1, 2]]);
    const many = [call(3), call(4), call(5)];
    await turn();
    expect(batches).to.deep.equal([
      [1, 2],
      [3, 4, 5],
    ]);
    end();
    end();
    expect(await Promise.all([...few, ...many])).to.deep.equal([10, 20, 30, 40, 50]);
  });

  it("tries a batch that fails again one by one, so that one entry fails no other", async () => {
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

  it("fails all alike with a store away, those that wait too, without asking it once for each", async () => {
    let asked = 0;
    const call = createBatcher(
      async (): Promise<number[]> => {
        asked += 1;
        await turn();
        throw new AppError("unavailable", "away");
      },
      { maxWeight: 2 },
    );
    const errors = await Promise.all([1, 2, 3].map(n => rejection(call(n))));
    expect(errors.map(({ code }) => code)).to.deep.equal(["unavailable", "unavailable", "unavailable"]);
    expect(asked).to.equal(1);
  });
});
