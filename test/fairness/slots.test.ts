import { expect } from "chai";
import fc from "fast-check";
import { Slots, type Waiter } from "../../src/fairness/slots.ts";
import { type AppError, notFound } from "../../src/lib/errors.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";
import type { Limit } from "../../src/limits/limit.ts";
import { read } from "../docs/repository.ts";

/** Work that ends when the test says so. */
function startWork(slots: Slots, order: string[], account: string) {
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
      const slots = new Slots({ total: total.value, perAccount: perAccount.value, what: "things" });
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
    const slots = new Slots({ total: 2, perAccount: 2, what: "things" });
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
    const slots = new Slots({ total: 4, perAccount: 3, what: "things" });
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
    const slots = new Slots({
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

describe("what accounts hold of a process", () => {
  /** Returns the code of what `work` throws, with its wait. */
  function thrownBy(work: () => unknown): string | undefined {
    try {
      work();
      return undefined;
    } catch (error) {
      expect((error as AppError).retryAfterMs).to.equal(1000);
      return (error as AppError).code;
    }
  }

  it("is as much as an account and all accounts may have, and nothing beyond it", () => {
    const bytes = new Slots({ perAccount: 10, total: 15, what: "bytes" });
    bytes.hold("a", 9);
    expect(thrownBy(() => bytes.hold("a", 2))).to.equal("rate-limited");
    bytes.hold("a", 1);
    expect(thrownBy(() => bytes.hold("b", 6))).to.equal("unavailable");
    bytes.hold("b", 5);
    bytes.release("a", 10);
    expect(thrownBy(() => bytes.hold("b", 6))).to.equal("rate-limited");
    expect(thrownBy(() => bytes.hold("c", 10))).to.equal(undefined);
  });

  it("is bounded for each account alone where there is no total", () => {
    const requests = new Slots({ perAccount: 1, what: "requests" });
    for (const account of ["a", "b", "c"]) requests.hold(account);
    expect(thrownBy(() => requests.hold("c"))).to.equal("rate-limited");
  });
});

describe("who waits for a slot", () => {
  let started: string[] = [];
  beforeEach(() => {
    started = [];
  });
  const waiter = (name: string, mayStart = () => true): Waiter => ({
    account: name.slice(0, 1),
    mayStart,
    start: () => started.push(name),
  });

  it("is passed by the others while something else keeps it, and starts once that has changed", () => {
    const slots = new Slots({ total: 1 });
    let isFree = false;
    const kept = waiter("a1", () => isFree);
    expect(slots.tryStart(kept)).to.equal(false);
    for (const one of [kept, waiter("a2"), waiter("b1")]) slots.wait(one);
    slots.serve();
    slots.release("a");
    expect(started).to.deep.equal(["a2", "b1"]);
    isFree = true;
    slots.release("b");
    expect(started.at(-1)).to.equal("a1");
    expect([slots.held, slots.waiters()]).to.deep.equal([1, []]);
  });

  it("may leave before, and then starts no more", () => {
    const slots = new Slots({ total: 1 });
    slots.hold("a");
    const [first, second] = [waiter("b1"), waiter("b2")];
    for (const one of [first, second]) slots.wait(one);
    expect([slots.leave(first), slots.leave(first)]).to.deep.equal([true, false]);
    slots.release("a");
    expect(started).to.deep.equal(["b2"]);
    expect(slots.leave(second)).to.equal(false);
  });

  it("starts when there are more slots; when there are fewer, what is held stays held", () => {
    const slots = new Slots({ total: 1 });
    for (const name of ["a1", "b1", "c1"]) slots.wait(waiter(name));
    slots.resize(3);
    expect(started).to.have.members(["a1", "b1", "c1"]);
    slots.resize(1);
    expect(slots.held).to.equal(3);
    slots.wait(waiter("d1"));
    for (const account of ["a", "b"]) slots.release(account);
    expect(started).not.to.include("d1");
    slots.release("c");
    expect(started).to.include("d1");
  });

  it("gives and gets slots by any sequence of calls without one too many, or one that stays free while somebody waits", () => {
    const account = fc.constantFrom("a", "b", "c");
    const calls = fc.array(fc.tuple(fc.constantFrom("ask", "release", "leave", "hold"), account));
    fc.assert(
      fc.property(calls, all => {
        const slots = new Slots({ total: 3, perAccount: 2 });
        const held: string[] = [];
        for (const [call, name] of all) {
          const one = { account: name, start: () => void held.push(name) };
          if (call === "ask" && !slots.tryStart(one)) slots.wait(one);
          if (call === "hold" && slots.whatIsFull(name) === null) {
            slots.hold(name);
            held.push(name);
          }
          const waiting = slots.waiters().find(other => other.account === name);
          if (call === "leave" && waiting) slots.leave(waiting);
          const at = held.indexOf(name);
          if (call === "release" && at >= 0) {
            held.splice(at, 1);
            slots.release(name);
          }
          const ofName = held.filter(other => other === name).length;
          expect([slots.held, slots.heldBy(name)]).to.deep.equal([held.length, ofName]);
          expect(held.length).to.be.at.most(3);
          expect(ofName).to.be.at.most(2);
          const isKept = slots.waiters().every(other => slots.whatIsFull(other.account) !== null);
          expect(isKept, "who waits has to").to.equal(true);
        }
      }),
    );
  });
});
