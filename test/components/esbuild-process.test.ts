import { readdirSync, readFileSync } from "node:fs";
import { getPriority } from "node:os";
import { expect } from "chai";
import {
  type Esbuild,
  EsbuildCrashError,
  EsbuildTimeoutError,
  withEsbuild,
} from "../../src/components/esbuild-process.ts";
import { skipBecause } from "../support/skip.ts";

const parseWith = async (esbuild: Esbuild) => (await esbuild.transform("let a = 1")).code;
const parse = () => withEsbuild("account", 5000, parseWith);

/** The processes of all instances. */
function esbuilds(): number[] {
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, "utf8").split(" ").filter(Boolean);
  return children
    .filter(pid => /^esbuild$/m.test(readFileSync(`/proc/${pid}/comm`, "utf8")))
    .filter(pid => !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z "))
    .map(Number);
}

/** A call during which a signal ends the process. */
const endedBy = (signal: NodeJS.Signals) => async (esbuild: Esbuild) => {
  const before = new Set(esbuilds());
  const calling = esbuild.build({
    stdin: { contents: "import 'x'" },
    ...{ bundle: true, write: false, logLevel: "silent" },
    plugins: [
      {
        name: "kills",
        setup: build => {
          build.onResolve({ filter: /x/ }, () => {
            for (const pid of before) process.kill(pid, signal);
            return new Promise(() => {});
          });
        },
      },
    ],
  });
  await calling;
  return "";
};

describe("calls of esbuild", () => {
  it("end at their time limit, and later calls still work", async () => {
    const error = await withEsbuild("account", 20, () => new Promise(() => {})).catch(
      (error: unknown) => error,
    );
    expect(error).to.be.instanceOf(EsbuildTimeoutError);
    expect(await parse()).to.equal("let a = 1;\n");
  });

  it("are never repeated or failed because of another account's call", async () => {
    let attempts = 0;
    let isDone = false;
    const bad = (async () => {
      while (!isDone) {
        await withEsbuild("bad", 1, () => new Promise(() => {})).catch(() => {});
        // Its instance is ended.
        const gone = await withEsbuild("bad", 5000, () => Promise.reject(new Error("gone"))).catch(e => e);
        expect(gone).to.include({ message: "gone" });
      }
    })();
    for (let n = 0; n < 20; n += 1) {
      const code = await withEsbuild("good", 5000, esbuild => {
        attempts += 1;
        return parseWith(esbuild);
      });
      expect(code).to.equal("let a = 1;\n");
    }
    isDone = true;
    await bad;
    expect(attempts).to.equal(20);
  });

  it("are repeated once if their process was killed; then the server is at fault, and not the code", async () => {
    let calls = 0;
    const once = await withEsbuild("account", 5000, esbuild => {
      calls += 1;
      return calls === 1 ? endedBy("SIGKILL")(esbuild) : parseWith(esbuild);
    });
    expect([calls, once]).to.deep.equal([2, "let a = 1;\n"]);
    calls = 0;
    const error = await withEsbuild("account", 5000, esbuild => {
      calls += 1;
      return endedBy("SIGKILL")(esbuild);
    }).catch(e => e);
    expect(error).to.include({ code: "unavailable" });
    expect(error.retryAfterMs).to.be.greaterThan(0);
    expect(calls).to.equal(2);
  });

  it("don't notice that a process was killed which waited for them", async () => {
    await parse();
    for (const pid of esbuilds()) process.kill(pid, "SIGKILL");
    expect(await parse()).to.equal("let a = 1;\n");
  });

  it("throw what is wrong elsewhere as it is", async () => {
    const error = await withEsbuild("account", 5000, () => Promise.reject(new Error("no space left"))).catch(
      e => e,
    );
    expect([error instanceof EsbuildCrashError, error.message]).to.deep.equal([false, "no space left"]);
  });

  it("are executed by processes that give way to this one", async function () {
    if (process.platform !== "linux") skipBecause(this, "it is about Linux");
    await parse();
    expect(esbuilds()).to.not.deep.equal([]);
    const threads = esbuilds().flatMap(pid => readdirSync(`/proc/${pid}/task`).map(Number));
    const wanted = Math.min(getPriority() + 10, 19);
    expect(new Set(threads.map(thread => getPriority(thread)))).to.deep.equal(new Set([wanted]));
  });

  it("throw esbuild's own diagnosis unchanged", async () => {
    const diagnosis = await withEsbuild("account", 5000, esbuild =>
      esbuild.transform("let =", { logLevel: "silent" }),
    ).catch((error: unknown) => error);
    expect(diagnosis).to.have.property("errors").with.length(1);
  });
});
