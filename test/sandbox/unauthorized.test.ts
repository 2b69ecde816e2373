import { expect } from "chai";
import { isUnauthorized } from "../../src/sandbox/child/vendor-response.ts";
import type { CallResult } from "../../src/sandbox/protocol.ts";
import type { Sandboxes } from "../../src/sandbox/sandboxes.ts";
import { openTestSandboxes, running } from "./sandbox-fixture.ts";

const failed = (message: string, more: object = {}) => Object.assign(new Error(message), more);
const chained = failed("fetch failed", { cause: failed("no", { cause: failed("x", { status: 401 }) }) });

describe("what code throws when a server rejects its credentials", () => {
  const cases: [what: string, thrown: unknown, expected: boolean][] = [
    ["a client with `response.status`", failed("x", { response: { status: 401 } }), true],
    ["a client with `response.statusCode`", failed("x", { response: { statusCode: 401 } }), true],
    ["a client with `status`", failed("x", { status: 401 }), true],
    ["a client with a code that is a text", failed("x", { code: "401" }), true],
    ["a cause of a cause", chained, true],
    ["an object that is no error", { status: 401 }, true],
    ["a message alone", failed("Request failed with status code 401"), true],
    ["a reason phrase", failed("the server said 401 Unauthorized"), true],
    ["the number first", failed("401: token expired"), true],
    ["a text", "HTTP 401", true],
    ["another status, whatever the text", failed("HTTP 401", { response: { status: 403 } }), false],
    ["another code", failed("x", { code: "ECONNRESET" }), false],
    ["a number that is no status", failed("wrote 401 rows"), false],
    ["a longer number", failed("status 4010"), false],
    ["nothing", undefined, false],
    ["null", null, false],
    [
      "a getter that throws",
      Object.defineProperty({}, "status", {
        get: () => {
          throw new Error("mine");
        },
      }),
      false,
    ],
  ];
  for (const [what, thrown, expected] of cases) {
    it(`is ${expected ? "seen" : "not seen"} in ${what}`, () => {
      expect(isUnauthorized(thrown)).to.equal(expected);
    });
  }

  describe("in a sandbox", () => {
    let sandboxes: Sandboxes;
    before(async () => {
      sandboxes = await openTestSandboxes();
    });
    after(() => sandboxes?.close());

    const body = `if (event === 1) throw Object.assign(new Error("rejected"), { status: 401 });
      if (event === 2) throw new Error("other");
      this.$emit(event);`;
    async function callOnce(stopsUnauthorized: boolean): Promise<CallResult[]> {
      const results: CallResult[] = [];
      const request = { call: "run" as const, props: {}, db: {}, events: [1, 2, 3], stopsUnauthorized };
      await sandboxes.callBatch("k", running(body), request, {
        startWithinMs: 60_000,
        onResult: (_, result) => results.push(result),
      });
      return results;
    }

    it("marks the result, and ends a batch whose credentials may be replaced", async () => {
      // A new process gets one event at a time, until its calls prove to be quick.
      for (let batch = 0; batch < 5; batch += 1) await callOnce(true);
      const stopped = await callOnce(true);
      expect(stopped.map(({ error, unauthorized }) => [error?.message, unauthorized])).to.deep.equal([
        ["rejected (HTTP 401)", true],
      ]);
      const all = await callOnce(false);
      expect(all.map(({ unauthorized }) => unauthorized)).to.deep.equal([true, undefined, undefined]);
    });
  });
});
