// runs-long: npm test has test/cli/catalogue/causes.test.ts
import { spawn } from "node:child_process";
import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { SHOP, working, writeFiles } from "../cli/catalogue/shop.ts";
import { root } from "../docs/repository.ts";

interface Result {
  code: number | null;
  stdout: string;
  stderr: string;
}

describe("npm run catalogue", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "headwater-catalogue-"));
    await mkdir(join(folder, "tmp"));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  function run(args: string[], env: Record<string, string> = {}): Promise<Result> {
    const child = spawn("npm", ["run", "--silent", "--prefix", root, "catalogue", "--", ...args], {
      cwd: folder,
      env: {
        TMPDIR: join(folder, "tmp"),
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        XDG_STATE_HOME: join(folder, "state"),
        ...env,
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let [stdout, stderr] = ["", ""];
    child.stdout.on("data", chunk => {
      stdout += chunk;
    });
    child.stderr.on("data", chunk => {
      stderr += chunk;
    });
    return new Promise(resolve => child.once("close", code => resolve({ code, stdout, stderr })));
  }

  it("examines a folder outside the project on a server of its own, which is gone afterwards", async () => {
    const {
      "package.json": manifest = "",
      "common/word.mjs": word = "",
      "sources/ticks.mjs": ticks = "",
    } = SHOP;
    await writeFiles(join(folder, "shop"), {
      "package.json": manifest,
      "common/word.mjs": word,
      "sources/ticks.mjs": ticks,
      "sources/throws.mjs": working("throws", { run: 'throw new Error("no paper");' }),
    });
    const { code, stdout, stderr } = await run(["shop", "--json"]);
    expect(code, stderr).to.equal(0);
    const { components, ran, causes } = JSON.parse(stdout);
    expect([components, ran.ok, ran.failed]).to.deep.equal([2, 1, 1]);
    expect(causes).to.deep.equal([
      { step: "ran", result: "failed", cause: "Error: no paper", components: ["shop/sources/throws.mjs"] },
    ]);
    const left = (await readdir(join(folder, "tmp"))).filter(name => name.startsWith("headwater-own-"));
    expect(left).to.deep.equal([]);
  });

  it("starts none for its help, a wrong folder, and a server that is named", async () => {
    const help = await run(["--help"]);
    expect([help.code, help.stdout]).to.satisfy(() => help.stdout.includes("--at-once <count>"));
    const away = await run([folder], { HEADWATER_URL: "http://127.0.0.1:9", HEADWATER_API_KEY: "hw_x" });
    expect(away.code).to.equal(1);
    const wrong = await run(["gone"]);
    expect([wrong.code, wrong.stderr]).to.satisfy(() => wrong.stderr.includes("neither a folder nor a file"));
    for (const { stderr } of [help, away, wrong])
      expect(stderr).not.to.include("server of its own for this run");
  });
});
