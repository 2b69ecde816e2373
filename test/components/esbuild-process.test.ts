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
        // As if its process had crashed.
        const crashed = await withEsbuild("bad", 5000, () => Promise.reject(new Error("gone"))).catch(e => e);
        expect(crashed).to.be.instanceOf(EsbuildCrashError);
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

  it("are executed by processes that give way to this one", async function () {
    if (process.platform !== "linux") skipBecause(this, "it is about Linux");
    await parse();
    const children = readFileSync(`/proc/self/task/${process.pid}/children`, "utf8")
      .split(" ")
      .filter(Boolean);
    const esbuilds = children.filter(pid => readFileSync(`/proc/${pid}/comm`, "utf8") === "esbuild\n");
    expect(esbuilds).to.not.deep.equal([]);
    const threads = esbuilds.flatMap(pid => readdirSync(`/proc/${pid}/task`).map(Number));
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
