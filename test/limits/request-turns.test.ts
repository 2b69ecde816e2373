import { expect } from "chai";
import type { AppError } from "../../src/lib/errors.ts";
import { FairTurns } from "../../src/lib/fair-turns.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { RequestTurns } from "../../src/limits/request-turns.ts";

describe("the turns of requests", () => {
  const thread = { pressure: 16 };
  let turns: RequestTurns;

  beforeEach(() => {
    thread.pressure = 16;
    turns = new RequestTurns(new FairTurns(thread, 0));
  });

  /** Fills the waiting room of an account while another one sends a request now and then. */
  async function fill(account: string): Promise<Promise<void>[]> {
    await turns.next("other");
    const waiting: Promise<void>[] = [];
    while (waiting.length < LIMITS.requestsWaiting.value) {
      const turn = turns.next(account);
      if (turn) waiting.push(turn);
    }
    return waiting;
  }

  it("are rejected with 429 beyond what may wait of one account, and another one's come at once", async () => {
    const waiting = await fill("a");
    const errorOf = (account: string) => {
      try {
        return turns.next(account) === undefined ? "none" : "waits";
      } catch (error) {
        return (error as AppError).code;
      }
    };
    expect(["a", "b"].map(errorOf)).to.deep.equal(["rate-limited", "none"]);
    thread.pressure = 1;
    await Promise.all(waiting);
    expect(errorOf("a")).not.to.equal("rate-limited");
  });

  it("count a large body as many requests", async () => {
    const shareOf = async (body: string) => {
      const own = new RequestTurns(new FairTurns({ pressure: 2 }, 0));
      await own.next("other");
      const startedAt = performance.now();
      for (let n = 0; n < 8; n++) {
        await own.next("a");
        own.chargeBytes("a", body.length);
      }
      return performance.now() - startedAt;
    };
    expect((await shareOf("x".repeat(2_000_000))) / (await shareOf("x"))).to.be.above(3);
  });
});
