// runs-long: catalogue.test.ts, without interruptions
import { mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import type { Api } from "../../support/api.ts";
import { type System, startSystem } from "../../support/system.ts";
import { until } from "../../support/until.ts";
import { headwater, startHeadwater } from "../command.ts";
import { endless, working, writeFiles } from "./shop.ts";

describe("headwater catalogue, interrupted", () => {
  let system: System;
  let api: Api & { userId: string };
  let folder: string;
  let env: Record<string, string>;

  before(async () => {
    system = await startSystem({ TIMEOUTS: "run:8s", RATE_LIMITS: "api:0" });
  });
  after(() => system.stop());
  beforeEach(async () => {
    api = await system.user({ plan: "paid" });
    folder = await mkdtemp(join(tmpdir(), "headwater-catalogue-"));
    await mkdir(join(folder, "shop"));
    env = {
      HEADWATER_URL: system.baseUrl,
      HEADWATER_API_KEY: api.apiKey,
      XDG_STATE_HOME: join(folder, "state"),
    };
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const at = (path: string) => join(folder, path);
  const examine = (...args: string[]) => headwater(["catalogue", ...args], env);

  /** Everything that the account has, by id. */
  async function owned(): Promise<string[]> {
    const lists = await Promise.all(
      ["/components", "/users/me/sources", "/users/me/destinations"].map(path =>
        api.expect(200, "GET", path),
      ),
    );
    return lists.flat().map(({ id }) => id);
  }

  it("goes on behind a kill -9 without examining twice", async () => {
    await writeFiles(at("shop"), {
      "a.mjs": working("a-works"),
      "b.mjs": working("b-throws", { run: 'throw new Error("out of paper");' }),
      "c.mjs": endless("c-hangs"),
      "d.mjs": working("e-works"),
    });
    const args = ["catalogue", at("shop"), "--at-once", "1", "--state", at("state.jsonl")];
    const killed = startHeadwater(args, env);
    const lines = async () => (await readFile(at("state.jsonl"), "utf8").catch(() => "")).split("\n");
    const isRunning = async () => {
      const rows = await api.expect(200, "GET", "/users/me/sources");
      return (await lines()).some(line => line.includes(at("shop/c.mjs"))) && rows.length === 1;
    };
    await until(isRunning, { what: "the third component to be deployed" });
    killed.kill("SIGKILL");
    await killed.ended;
    // A source and its component, and perhaps a component whose source was just deleted.
    expect((await owned()).length).to.be.at.least(2);

    const { code, stdout, stderr } = await headwater(args, env);
    expect(code, stderr).to.equal(0);
    expect(stderr).to.include("Going on: 2 were examined before");
    expect(stdout).to.match(/^4 of 4 components$/m);
    expect(stdout).to.match(/^described +4 +0 +0 +0$/m);
    expect(stdout).to.match(/^ran +2 +2 +0 +0$/m);
    expect(stdout).to.match(/^Failed at run: 2\n +1 {2}.*\n +\S+\n +1 {2}/m);
    expect(stdout).to.include("Error: out of paper").and.to.include("Timeout: ");
    const began = (await lines()).filter(line => line.startsWith('{"began"'));
    const times = (path: string) => began.filter(line => line.includes(at(`shop/${path}`))).length;
    expect(["a.mjs", "b.mjs", "c.mjs", "d.mjs"].map(times)).to.deep.equal([1, 1, 2, 1]);
    expect(await owned()).to.deep.equal([]);
  });

  it("ends at Ctrl-C with what it found, and deletes what it made", async () => {
    await writeFiles(at("shop"), { "a.mjs": working("works"), "b.mjs": endless("hangs") });
    const running = startHeadwater(["catalogue", at("shop"), "--at-once", "1", "--seconds", "600"], env);
    const isDeployed = async () => {
      const [state = ""] = await readdir(at("state/headwater")).catch(() => []);
      const text = state && (await readFile(at(`state/headwater/${state}`), "utf8"));
      return text.includes("b.mjs") && (await api.expect(200, "GET", "/users/me/sources")).length === 1;
    };
    await until(isDeployed, { what: "the second component to be deployed" });
    running.kill("SIGINT");
    const { code, stdout, stderr } = await running.ended;
    expect(code).to.equal(1);
    expect(stdout).to.match(/^1 of 2 components$/m);
    expect(stderr).to.include("the same command goes on");
    expect(await owned()).to.deep.equal([]);
  });

  it("leaves a component that takes longer than it may", async () => {
    await writeFiles(at("shop"), { "a.mjs": endless("endless") });
    const { stdout } = await examine(at("shop"), "--seconds", "2", "--json");
    expect(JSON.parse(stdout).causes[0].cause).to.equal("took more than 2 s");
    expect(await owned()).to.deep.equal([]);
  });
});
