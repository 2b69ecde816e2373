// runs-long: npm test has test/cli/catalogue/report.test.ts
import { spawn } from "node:child_process";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { endless, SHOP, working, writeFiles } from "../cli/catalogue/shop.ts";
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

  it("runs components with made-up accounts where there is no network, and says where each one stops", async () => {
    const app = 'import shop from "../shop.app.mjs";\n';
    const calls = "await fetch('https://shop.example/' + this.shop.$auth.api_key + this.word);";
    await writeFiles(join(folder, "shop"), {
      "package.json": "{}",
      "shop.app.mjs": 'export default { type: "app", app: "shop" };\n',
      "sources/reaches.mjs": app + working("reaches", { props: "shop, word: 'string'", run: calls }),
      "sources/throws.mjs": app + working("throws", { props: "shop", run: "this.shop.$auth.none.trim();" }),
      "sources/lacks.mjs": working("lacks", {
        props: "store: 'data_store'",
        run: "await this.store.get('x');",
      }),
      "sources/hangs.mjs": endless("hangs"),
      "sources/works.mjs": working("works"),
    });
    await writeFile(join(folder, "accounts.json"), '{"shop": {"api_key": "k"}}');
    const args = ["shop", "--accounts", "accounts.json", "--seconds", "60", "--json"];
    const { code, stdout, stderr } = await run(args);
    expect(code, stderr).to.equal(0);
    const { stops, outcomes } = JSON.parse(stdout);
    const found = outcomes.map(({ at, stop }: { at: string; stop: string }) => [
      at.replace(/^.*\/(\w+)\.mjs$/, "$1"),
      stop,
    ]);
    expect(Object.fromEntries(found)).to.deep.equal({
      ...{ reaches: "network", throws: "own_code", lacks: "platform", hangs: "timeout", works: "end" },
    });
    expect(stops).to.include({ network: 1, own_code: 1, platform: 1, timeout: 1, end: 1, not_run: 0 });
    const away = await run(["shop", "--accounts", "accounts.json"], {
      HEADWATER_URL: "http://127.0.0.1:9",
      HEADWATER_API_KEY: "hw_x",
    });
    expect([away.code, away.stderr]).to.satisfy(() =>
      away.stderr.includes("would send the made-up accounts"),
    );
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
