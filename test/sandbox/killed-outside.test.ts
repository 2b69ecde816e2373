// runs-long: npm test has test/sandbox/calls.test.ts

import { readFileSync } from "node:fs";
import { expect } from "chai";
import { type CallResult, SANDBOX_LOST } from "../../src/sandbox/protocol.ts";
import type { Sandboxes } from "../../src/sandbox/sandboxes.ts";
import { rejection } from "../components/rejection.ts";
import { until } from "../support/until.ts";
import { bundleOf, openTestSandboxes, RUN, running } from "./sandbox-fixture.ts";

/** Returns the sandboxes that this process has started. */
function sandboxPids(): number[] {
  const children = readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, "utf8");
  return children
    .split(" ")
    .filter(pid => pid && /\/\d+\/out\.sock/.test(commandOf(pid)))
    .map(Number);
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    // It has ended since.
    return "";
  }
}

/** Ends the sandbox as an operator or the kernel would; the host does not know why. */
async function killSandbox(signal: NodeJS.Signals): Promise<number> {
  const pid = await until(() => sandboxPids()[0]);
  process.kill(pid, signal);
  return pid;
}

const DB = `props: { db: "$.service.db", http: "$.interface.http" },`;
/** Responds once it has started the call, so that it can be killed in the middle of it. */
const SLOW = running(
  `await this.http.respond({ status: 200, body: String(event?.n) });
   this.db.set("seen", [...(this.db.get("seen") ?? []), event?.n]);
   this.$emit(this.db.get("seen"));
   if (event?.slow) await new Promise(resolve => setTimeout(resolve, 1000));`,
  DB,
);

describe("a sandbox that is killed from outside", () => {
  if (process.platform !== "linux") return;
  let sandboxes: Sandboxes;
  let key = 0;
  beforeEach(async () => {
    sandboxes = await openTestSandboxes();
  });
  afterEach(() => sandboxes.close());

  for (const signal of ["SIGKILL", "SIGTERM", "SIGHUP", "SIGINT"] as const) {
    it(`by ${signal} in a call has the call repeated in another process`, async () => {
      let kills = 0;
      const event = { n: 1, slow: true };
      const result = await sandboxes.call(
        `k${++key}`,
        SLOW,
        { ...RUN, event },
        {
          onRespond: () => void (kills++ === 0 && killSandbox(signal)),
        },
      );
      expect(kills, "starts of the call").to.equal(2);
      expect(result.error).to.equal(undefined);
      expect(result.emits.map(emit => emit.event)).to.deep.equal([[1]]);
    });
  }

  it("in a later call of a batch repeats that call alone, with the db of the one before", async () => {
    const results: CallResult[] = [];
    let kills = 0;
    const events = [{ n: 1 }, { n: 2, slow: true }, { n: 3 }];
    const request = { call: "run" as const, props: {}, db: {}, events };
    const completed = await sandboxes.callBatch(`k${++key}`, SLOW, request, {
      startWithinMs: 10_000,
      onRespond: index => void (index === 1 && kills++ === 0 && killSandbox("SIGKILL")),
      onResult: (index, result) => {
        expect(index).to.equal(results.length);
        results.push(result);
      },
    });
    expect(completed).to.equal(results.length);
    expect(results.map(({ error }) => error)).to.deep.equal(results.map(() => undefined));
    expect(results.slice(0, 2).map(({ emits }) => emits[0]?.event)).to.deep.equal([[1], [1, 2]]);
  });

  it("while it loads the code has the call repeated as well", async () => {
    const loading = `await new Promise(resolve => setTimeout(resolve, 700));
      export default { name: "Loads", version: "0.0.1", run() { this.$emit("ran"); } };`;
    const calling = sandboxes.call(`k${++key}`, bundleOf(loading), RUN);
    await killSandbox("SIGKILL");
    expect((await calling).emits[0]?.event).to.equal("ran");
  });

  it("twice fails the call as what it is, never as out of memory, and the next call runs", async () => {
    let starts = 0;
    const name = `k${++key}`;
    const result = await sandboxes.call(
      name,
      SLOW,
      { ...RUN, event: { n: 1, slow: true } },
      {
        onRespond() {
          starts += 1;
          void killSandbox("SIGKILL");
        },
      },
    );
    expect(starts).to.equal(2);
    expect(result.error?.code).to.equal(SANDBOX_LOST);
    expect((await sandboxes.call(name, SLOW, { ...RUN, event: { n: 2 } })).error).to.equal(undefined);
  });

  it("while code is described has it described again; twice is `unavailable`, not a fault of the code", async () => {
    const slow = bundleOf(`await new Promise(resolve => setTimeout(resolve, 700));
      export default { name: "Described", version: "0.0.1", run() {} };`);
    const once = sandboxes.describe(slow);
    await killSandbox("SIGKILL");
    expect((await once).name).to.equal("Described");

    await until(() => sandboxPids().length === 0);
    const twice = rejection(sandboxes.describe(slow));
    const first = await killSandbox("SIGKILL");
    await until(() => !sandboxPids().includes(first));
    await killSandbox("SIGKILL");
    expect((await twice).code).to.equal("unavailable");
  });

  it("is told apart from one whose code ended itself or used up its time", async () => {
    for (const [body, code] of [
      ["process.exit(7)", "Error"],
      ["for (;;);", "Timeout"],
    ] as const) {
      let starts = 0;
      const bundle = running(`await this.http.respond({ status: 200 }); ${body}`, DB);
      const result = await sandboxes.call(`k${++key}`, bundle, RUN, {
        wallMs: 1000,
        onRespond() {
          starts += 1;
        },
      });
      expect(result.error?.code).to.equal(code);
      expect(starts, `starts of ${body}`).to.equal(1);
    }
  });
});
