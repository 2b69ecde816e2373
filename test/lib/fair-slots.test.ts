import { expect } from "chai";
import { type AppError, notFound } from "../../src/lib/errors.ts";
import { FairSlots } from "../../src/lib/fair-slots.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";
import type { Limit } from "../../src/limits/limit.ts";
import { read } from "../docs/repository.ts";

/** Work that ends when the test says so. */
function startWork(slots: FairSlots, order: string[], account: string) {
  let end = () => {};
  const ended = new Promise<void>(resolve => {
    end = resolve;
  });
  const done = slots.run(account, () => {
    order.push(account);
    return ended;
  });
  return { end, done };
}

const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => "done",
    (error: unknown) => (error as AppError).code,
  );

/** Where work gets its slots, and the bounds of docs/limits.md that it has there. */
const USES: [string, { total: Limit; perAccount: Limit }][] = [
  ["src/components/save.ts", { total: LIMITS.saves, perAccount: LIMITS.savesPerAccount }],
  ["src/components/save.ts", { total: LIMITS.describes, perAccount: LIMITS.describesPerAccount }],
  ["src/components/esbuild-process.ts", { total: LIMITS.builds, perAccount: LIMITS.buildsPerAccount }],
  ["src/components/npm-packages.ts", { total: LIMITS.packageSets, perAccount: LIMITS.packageSetsPerAccount }],
  ["src/components/trial/build.ts", { total: LIMITS.trials, perAccount: LIMITS.trialsPerAccount }],
];

describe("slots for heavy work", () => {
  for (const [file, bounds] of USES) {
    it(`are as many in ${file} as docs/limits.md says, of an account and in all`, async () => {
      const source = read(file);
      const { total, perAccount } = bounds;
      for (const [option, bound] of Object.entries(bounds)) {
        const name = Object.entries(LIMITS).find(([, one]) => one === bound)?.[0];
        expect(source).to.match(new RegExp(`${option}: LIMITS\\.${name}\\.value`));
      }
      const slots = new FairSlots({ total: total.value, perAccount: perAccount.value, what: "things" });
      const order: string[] = [];
      const works = Array.from({ length: total.value + 1 }, () => startWork(slots, order, "a"));
      expect(order, "of the account").to.have.length(perAccount.value);
      works.push(...Array.from({ length: total.value }, (_, n) => startWork(slots, order, `b${n}`)));
      expect(order, "in all").to.have.length(total.value);
      for (const { end } of works) end();
      for (const { end, done } of works) {
        end();
        await done;
      }
    });
  }

  it("serve accounts in turn, whatever the backlog of one is", async () => {
    const slots = new FairSlots({ total: 2, perAccount: 2, what: "things" });
    const order: string[] = [];
    const accounts = ["a", "a", "a", "a", "a", "b", "b", "c"];
    const works = accounts.map(account => startWork(slots, order, account));
    // Each piece of work ends as soon as it has started.
    for (let ended = 0; ended < works.length; ended += 1) {
      const account = order[ended] ?? "";
      const nth = order.slice(0, ended).filter(name => name === account).length;
      const work = works.filter((_, index) => accounts[index] === account)[nth];
      work?.end();
      await work?.done;
    }
    expect(order.join("")).to.equal("aabcabaa");
  });

  it("leave slots for other accounts, and give up those of work that fails", async () => {
    const slots = new FairSlots({ total: 4, perAccount: 3, what: "things" });
    const order: string[] = [];
    const works = Array.from({ length: 10 }, () => startWork(slots, order, "a"));
    expect(order).to.have.length(3);
    const other = startWork(slots, order, "b");
    expect(order.at(-1)).to.equal("b");
    for (const { end } of [...works, other]) end();
    await Promise.all(works.map(({ done }) => done));
    for (let n = 0; n < 10; n += 1) {
      expect(await codeOf(slots.run("a", () => Promise.reject(notFound("it"))))).to.equal("not-found");
    }
    expect(await codeOf(slots.run("a", async () => {}))).to.equal("done");
  });

  it("reject what may not wait: of the account with 429, of all with 503, both with Retry-After", async () => {
    const slots = new FairSlots({
      total: 3,
      perAccount: 1,
      waitingPerAccount: 1,
      waiting: 2,
      what: "things",
    });
    const works = ["a", "a", "b", "b"].map(account => startWork(slots, [], account));
    const tooMany = await slots.run("a", async () => {}).catch((error: unknown) => error);
    expect(tooMany).to.include({ code: "rate-limited" });
    expect((tooMany as AppError).retryAfterMs).to.be.above(0);
    const [c] = [startWork(slots, [], "c")];
    const full = await slots.run("c", async () => {}).catch((error: unknown) => error);
    expect(full).to.include({ code: "unavailable" });
    expect((full as AppError).retryAfterMs).to.be.above(0);
    for (const { end } of [...works, c]) end();
    await Promise.all([...works, c].map(({ done }) => done));
    expect(await codeOf(slots.run("a", async () => {}))).to.equal("done");
  });
});
