import { expect } from "chai";
import { openFairBatches } from "../../src/fairness/batches.ts";

const SIZE = 500;

/** What is due, oldest first; a batch is put off by leaving it out from then on. */
function openDue(...accounts: [owner_id: string, count: number][]) {
  let due = accounts.flatMap(([owner_id, count]) => Array.from({ length: count }, () => ({ owner_id })));
  const next = openFairBatches(SIZE, async ({ owner_id }, size) => {
    const found = due.filter(item => !owner_id?.$nin.includes(item.owner_id)).slice(0, size);
    due = due.filter(item => !found.includes(item));
    return found;
  });
  return next;
}

/** Reads a whole turn; returns whose items each batch held. */
async function readTurn(next: ReturnType<typeof openDue>): Promise<string[]> {
  const batches: string[] = [];
  for (;;) {
    const { items, isLast } = await next();
    const owners = [...new Set(items.map(({ owner_id }) => owner_id))];
    batches.push(owners.map(id => `${id} ${items.filter(item => item.owner_id === id).length}`).join(", "));
    if (isLast) return batches;
  }
}

describe("fair batches", () => {
  it("hold what is due until nothing is left", async () => {
    expect(await readTurn(openDue(["a", 600]))).to.deep.equal(["a 500", "a 100"]);
    expect(await readTurn(openDue(["a", 500]))).to.deep.equal(["a 500", ""]);
    expect(await readTurn(openDue())).to.deep.equal([""]);
  });

  it("come to all other accounts after the first 2000 of one, and then back to it", async () => {
    expect(await readTurn(openDue(["a", 2600], ["b", 550]))).to.deep.equal([
      ...["a 500", "a 500", "a 500", "a 500"],
      ...["b 500", "b 50"],
      ...["a 500", "a 100"],
    ]);
  });

  it("stay in the order of what is due once each account had its part", async () => {
    expect(await readTurn(openDue(["a", 2000], ["b", 2000], ["a", 400], ["b", 300]))).to.deep.equal([
      ...["a 500", "a 500", "a 500", "a 500", "b 500", "b 500", "b 500", "b 500"],
      ...["a 400, b 100", "b 200"],
    ]);
  });

  it("end with an account that has nothing left after its part", async () => {
    expect(await readTurn(openDue(["a", 2000]))).to.deep.equal(["a 500", "a 500", "a 500", "a 500", ""]);
  });
});
