import { expect } from "chai";
import { LIMITS } from "../../src/limits/catalogue.ts";
import type { CallResult } from "../../src/sandbox/protocol.ts";
import type { Sandboxes } from "../../src/sandbox/sandboxes.ts";
import { until } from "../support/until.ts";
import { openTestSandboxes, RUN, running } from "./sandbox-fixture.ts";

const PID = running("this.$emit(process.pid)");

describe("a sandbox that timer sources share", () => {
  let sandboxes: Sandboxes;
  let hash = 0;

  before(async () => {
    sandboxes = await openTestSandboxes({ maxProcesses: 4, sourcesPerProcess: 2 });
  });
  after(() => sandboxes.close());
  afterEach(() => sandboxes.drop(""));

  /** Each bundle has a hash of its own, as in the stores. */
  const newBundle = (bundle: ReturnType<typeof running>) => ({ ...bundle, hash: String(++hash) });
  const call = (key: string, bundle: typeof PID, { owner = "a", isShareable = true, event = {} } = {}) =>
    sandboxes.call(key, bundle, { ...RUN, event }, { owner, isShareable });
  const emitted = ({ error, emits }: CallResult) => {
    expect(error).to.equal(undefined);
    return emits.map(({ event }) => event);
  };

  it("serves as many sources of one account with the same code as it may, and no other", async () => {
    const bundle = newBundle(PID);
    const [first] = emitted(await call("one", bundle));
    expect(emitted(await call("two", bundle))).to.deep.equal([first]);
    expect(emitted(await call("one", bundle))).to.deep.equal([first]);
    expect(emitted(await call("three", bundle))).to.not.deep.equal([first]);
    expect(emitted(await call("other-account", bundle, { owner: "b" }))).to.not.deep.equal([first]);
    expect(emitted(await call("other-code", newBundle(PID)))).to.not.deep.equal([first]);
    expect(emitted(await call("alone", bundle, { isShareable: false }))).to.not.deep.equal([first]);
  });

  it("serves as many as docs/limits.md says", async () => {
    const most = LIMITS.sharedSources.value;
    const own = await openTestSandboxes({ maxProcesses: 2, sourcesPerProcess: most });
    try {
      const bundle = newBundle(PID);
      const pids: unknown[] = [];
      for (let n = 0; n <= most; n += 1) {
        pids.push(...emitted(await own.call(`s${n}`, bundle, RUN, { owner: "a", isShareable: true })));
      }
      expect(new Set(pids.slice(0, most)).size).to.equal(1);
      expect(pids[most]).to.not.equal(pids[0]);
    } finally {
      await own.close();
    }
  });

  it("gives each source an instance of the module and a folder of its own", async () => {
    const bundle = newBundle({
      hash: "",
      code: `import fs from "node:fs"; import os from "node:os";
        let count = 0;
        export default { name: "T", version: "1", run() {
          const files = fs.readdirSync("/tmp");
          fs.writeFileSync("count.txt", "relative");
          fs.writeFileSync(os.tmpdir() + "/" + count, "absolute");
          this.$emit([process.pid, ++count, files]);
        } };`,
    });
    const results = [];
    for (const key of ["one", "two", "one", "two"]) results.push(...emitted(await call(key, bundle)));
    const [pid] = results[0] as [number];
    const files = ["0", "count.txt"];
    expect(results).to.deep.equal([
      [pid, 1, []],
      [pid, 1, []],
      [pid, 2, files],
      [pid, 2, files],
    ]);
  });

  it("keeps what one source left behind out of the run of another one", async () => {
    const bundle = newBundle(
      running(`
        if (event.leave) {
          const left = setInterval(() => {
            if (!globalThis.isOther) return;
            clearInterval(left);
            globalThis.hasFired = true;
            console.log("left behind");
            Promise.reject(new Error("left behind"));
          }, 5);
        } else {
          globalThis.isOther = true;
          while (!globalThis.hasFired) await new Promise(done => setTimeout(done, 5));
          await new Promise(done => setTimeout(done, 50));
          console.log("own");
        }
        this.$emit(process.pid);`),
    );
    const [pid] = emitted(await call("one", bundle, { event: { leave: true } }));
    const result = await call("two", bundle);
    expect(emitted(result)).to.deep.equal([pid]);
    expect(result.logs.map(({ message }) => message)).to.deep.equal(["own"]);
    // Its state is unknown, so it ends.
    await until(() => sandboxes.stats().warm === 0, { what: "the process has ended" });
  });

  it("names the component's own file in the stack of every source", async () => {
    const bundle = newBundle(running("throw new Error('no')"));
    await call("one", bundle);
    const { error } = await call("two", bundle);
    expect(error?.stack).to.match(/component\.mjs:1:\d+/);
  });

  it("ends when one of its sources is dropped", async () => {
    const bundle = newBundle(PID);
    await call("one", bundle);
    await call("two", bundle);
    sandboxes.drop("two");
    await until(() => sandboxes.stats().warm === 0, { what: "the process has ended" });
  });

  it("runs a source that joins it in a new process if it ended in between", async () => {
    const bundle = newBundle(running("if (event.exit) setTimeout(() => process.exit(0)); this.$emit(1)"));
    await call("one", bundle, { event: { exit: true } });
    expect(emitted(await call("two", bundle))).to.deep.equal([1]);
  });
});
