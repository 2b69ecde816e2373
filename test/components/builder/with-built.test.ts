import { existsSync, readdirSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { getPriority, tmpdir } from "node:os";
import { dirname } from "node:path";
import { expect } from "chai";
import {
  buildProcess,
  removeAbandonedBuilds,
  withBuilt,
} from "../../../src/components/builder/with-built.ts";
import { fromCode, type ModuleLoader } from "../../../src/components/load-modules.ts";
import { startPrintingProgram } from "../../support/printing-program.ts";
import { skipBecause } from "../../support/skip.ts";
import { rejection } from "../rejection.ts";

const CODE = `export default { name: "Built", version: "1", run(event) { this.http.respond({ status: 200 }); } };`;
const OPTIONS = { cacheDir: tmpdir(), account: "u_1" };

/** Returns a loader that ends the build process as often as this when it is asked for the code. */
function ending(times: number): ModuleLoader {
  let ended = 0;
  const loader = fromCode(CODE);
  return {
    ...loader,
    async entry() {
      if (ended++ < times) process.kill(buildProcess().pid ?? 0, "SIGKILL");
      return loader.entry();
    },
  };
}

describe("building in a process of its own", () => {
  const build = (loader: ModuleLoader) => withBuilt(loader, OPTIONS, async built => built);

  it("writes the bundle to files, which are gone afterwards", async () => {
    let path = "";
    const built = await withBuilt(fromCode(CODE), OPTIONS, async built => {
      path = built.path;
      expect(await readFile(path, "utf8")).to.include('name: "Built"');
      return built;
    });
    expect(built?.bundle.traits.usesRespond).to.equal(true);
    expect(await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => error.code)).to.equal(
      "ENOENT",
    );
  });

  it("leaves nothing for the next one if its caller is killed", async () => {
    const program = new URL("killed-builder.ts", import.meta.url).pathname;
    const { printed: path, kill } = await startPrintingProgram([program], "the component is built");
    await kill();
    expect(existsSync(path)).to.equal(true);
    await removeAbandonedBuilds();
    expect(existsSync(dirname(path))).to.equal(false);
  });

  it("ends after the files were read if the caller knows the code", async () => {
    const hashes: string[] = [];
    const goesOn = async (hash: string) => {
      hashes.push(hash);
      return false;
    };
    const built = await withBuilt(fromCode(CODE), { ...OPTIONS, goesOn }, async () => "built");
    expect([built, hashes.length]).to.deep.equal([null, 1]);
  });

  it("throws what is wrong with the code, as it is named", async () => {
    const error = await rejection(build(fromCode("export default {\n  name: \n};")));
    expect(error).to.include({ name: "AppError", code: "invalid" });
    expect(error.fields).to.deep.equal([
      { in: "body", path: "component_code", message: 'line 3, column 1: Unexpected "}"' },
    ]);
  });

  it("throws what the caller throws", async () => {
    const loader = { ...fromCode(CODE), entry: () => Promise.reject(new TypeError("a bug")) };
    const error = await build(loader).catch((error: Error) => error);
    expect(error).to.be.instanceOf(Error).with.property("message", "a bug");
  });

  it("is repeated once if its process ends", async () => {
    expect((await build(ending(1)))?.modules).to.deep.equal(["component.js"]);
    const error = await rejection(build(ending(2)));
    expect(error).to.include({ code: "unavailable", retryAfterMs: 10_000 });
    expect((await build(ending(0)))?.modules).to.deep.equal(["component.js"]);
  });

  it("has none of the platform's environment, and gives way to it", async function () {
    if (process.platform !== "linux") skipBecause(this, "it is about Linux");
    await build(ending(0));
    const { pid = 0 } = buildProcess();
    const names = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0").filter(Boolean);
    expect(names.map(entry => entry.split("=")[0]).filter(name => !/^NODE_/.test(name ?? ""))).to.deep.equal(
      [],
    );
    const threads = readdirSync(`/proc/${pid}/task`).map(Number);
    const nicer = Math.min(getPriority() + 10, 19);
    expect(threads.map(thread => getPriority(thread))).to.deep.equal(threads.map(() => nicer));
  });
});
