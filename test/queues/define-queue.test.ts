import { expect } from "chai";
import { ReplyError } from "ioredis";
import { AppError } from "../../src/lib/errors.ts";
import { enqueueAll, openedQueue } from "../../src/queues/define-queue.ts";
import { emissions } from "../../src/queues/emissions.ts";
import { asUnavailable } from "../../src/store/connections/redis.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";

/** Nested too deeply for `JSON.stringify`. */
function deepValue(): unknown {
  let value: unknown = [];
  for (let level = 0; level < 100_000; level++) value = [value];
  return value;
}
const emission = (n: number, event: unknown) => ({
  emitter_id: "p_0000000000000000",
  emit_id: `e${n}`,
  event,
});
const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => "none",
    (error: unknown) => (error instanceof AppError ? error.code : (error as Error).name),
  );

describe("enqueueing jobs", () => {
  for (const process of ["web", "runs"]) {
    describe(`by the ${process} process`, () => {
      let platform: TestPlatform;
      beforeEach(async () => {
        platform = await openTestPlatform({}, { process });
      });
      afterEach(() => platform.destroy());
      const add = (...events: unknown[]) =>
        enqueueAll(
          platform.queues,
          emissions.jobs.emissions,
          events.map((event, n) => emission(n, event)),
        );

      it("fails with the payload's own error if it can't be written as JSON, alone or among others", async () => {
        const cycle: unknown[] = [];
        cycle.push(cycle);
        expect(await codeOf(add(deepValue()))).to.equal("RangeError");
        expect(await codeOf(add(1, deepValue(), 2))).to.equal("RangeError");
        expect(await codeOf(add(1, cycle))).to.equal("TypeError");
        expect(await openedQueue(platform.queues, emissions).getWaitingCount()).to.equal(0);
      });
    });
  }

  it("is unavailable over a connection that is closed", async () => {
    for (const process of ["web", "runs"]) {
      const platform = await openTestPlatform({}, { process });
      platform.redis.disconnect();
      const job = emissions.jobs.emissions;
      expect(await codeOf(enqueueAll(platform.queues, job, [emission(1, 1)])), process).to.equal(
        "unavailable",
      );
      await platform.mongo.dropDatabase();
      await platform.close();
    }
  });
});

describe("an error of Redis", () => {
  const errors: [Error, string][] = [
    [new Error("Connection is closed."), "unavailable"],
    [new Error("Command timed out"), "unavailable"],
    [Object.assign(new Error("connect"), { code: "ECONNREFUSED" }), "unavailable"],
    [new ReplyError("OOM command not allowed when used memory > 'maxmemory'"), "unavailable"],
    [new ReplyError("ERR Protocol error: invalid bulk length"), "ReplyError"],
    [new RangeError("Maximum call stack size exceeded"), "RangeError"],
    [new RangeError("Invalid string length"), "RangeError"],
    [new TypeError("x is not a function"), "TypeError"],
    [new Error("Invalid argument"), "Error"],
  ];
  for (const [error, expected] of errors) {
    it(`${expected === "unavailable" ? "is" : "is not"} unavailable: ${error.message}`, () => {
      const translated = asUnavailable(error);
      expect(translated instanceof AppError ? translated.code : translated.name).to.equal(expected);
    });
  }
});
