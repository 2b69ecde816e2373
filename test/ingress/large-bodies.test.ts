import { expect } from "chai";
import { LargeBodies } from "../../src/ingress/large-bodies.ts";
import type { AppError } from "../../src/lib/errors.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { until } from "../support/until.ts";

const LARGE = LIMITS.largeBodyBytes.value + 1;
const WORK_MS = 10;

/** Takes the thread, as a parser does. */
async function parse(): Promise<void> {
  const end = performance.now() + WORK_MS;
  while (performance.now() < end);
}

const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => "done",
    (error: unknown) => (error as AppError).code,
  );

describe("large bodies", () => {
  it("of one account are converted one at a time, of two accounts side by side, and small ones at once", async () => {
    const bodies = new LargeBodies();
    const started: string[] = [];
    let end = () => {};
    const ended = new Promise<void>(resolve => {
      end = resolve;
    });
    const start = (name: string, bytes: number) =>
      bodies.run(name.slice(0, 1), bytes, () => {
        started.push(name);
        return ended;
      });
    const all = [start("a1", LARGE), start("a2", LARGE), start("a3", LARGE - 1), start("b1", LARGE)];
    const third = start("c1", LARGE);
    expect(started).to.deep.equal(["a1", "a3", "b1"]);
    end();
    await Promise.all([...all, third]);
    expect(started).to.have.members(["a1", "a2", "a3", "b1", "c1"]);
  });

  it("of one account leave most of the thread to others as long as others send requests, and none of it alone", async () => {
    /** Converts bodies of `a` one after another, and returns the share of the time that this took. */
    const shareOf = async (others: string[]) => {
      const bodies = new LargeBodies();
      const startedAt = performance.now();
      let worked = 0;
      for (let n = 0; n < 10; n += 1) {
        for (const account of ["a", ...others]) bodies.note(account);
        await bodies.run("a", LARGE, async () => {
          const at = performance.now();
          await parse();
          worked += performance.now() - at;
        });
      }
      return worked / (performance.now() - startedAt);
    };
    const [alone, beside] = [await shareOf([]), await shareOf(["b"])];
    expect(beside).to.be.below(0.35);
    expect(alone / beside).to.be.above(2);
  });

  it("that may not wait are rejected: too many of the account with 429, too many of all with 503", async () => {
    const bodies = new LargeBodies();
    let end = () => {};
    const ended = new Promise<void>(resolve => {
      end = resolve;
    });
    const { largeBodies, largeBodiesWaiting: ofAccount, largeBodiesWaitingInAll: inAll } = LIMITS;
    const fill = (account: string, count: number) =>
      Array.from({ length: count }, () => bodies.run(account, LARGE, () => ended));
    const first = fill("a", 1 + ofAccount.value);
    expect(await codeOf(bodies.run("a", LARGE, parse))).to.equal("rate-limited");
    // The other turns, and accounts that fill the waiting room of all.
    const others = Array.from({ length: largeBodies.value - 1 }, (_, n) => fill(`running-${n}`, 1)).flat();
    const crowd = Array.from({ length: inAll.value - ofAccount.value }, (_, n) => fill(`b${n}`, 1)).flat();
    expect(await codeOf(bodies.run("c", LARGE, parse))).to.equal("unavailable");
    end();
    await Promise.all([...first, ...others, ...crowd]);
    await until(async () => (await codeOf(bodies.run("a", LARGE, parse))) === "done");
  });
});
