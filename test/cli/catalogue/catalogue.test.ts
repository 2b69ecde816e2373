// runs-long: npm test has test/cli/catalogue/report.test.ts

import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { expect } from "chai";
import type { Outcome } from "../../../src/cli/catalogue/report.ts";
import type { Api } from "../../support/api.ts";
import { type NpmRegistry, startNpmRegistry } from "../../support/npm-registry.ts";
import { type System, startSystem } from "../../support/system.ts";
import { headwater } from "../command.ts";
import { SHOP, SHOP_PROPS, working, writeFiles } from "./shop.ts";

describe("headwater catalogue", () => {
  let system: System;
  let registry: NpmRegistry;
  let api: Api & { userId: string };
  let folder: string;
  let env: Record<string, string>;

  before(async () => {
    registry = await startNpmRegistry([]);
    const { npm_config_registry = "", npm_config_cache = "" } = registry.environment;
    const { HOME = "", PATH = "" } = process.env;
    system = await startSystem({
      ...{ npm_config_registry, npm_config_cache, HOME, PATH },
      ...{ CACHE_DIR: registry.cacheDir, RATE_LIMITS: "api:0" },
    });
  });
  after(async () => {
    await system.stop();
    await registry.close();
  });
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
      ["/components", `/users/me/sources`, "/users/me/destinations"].map(path =>
        api.expect(200, "GET", path),
      ),
    );
    return lists.flat().map(({ id }) => id);
  }

  /** What was found, by path below the shop. */
  function resultsOf(outcomes: Outcome[]): Record<string, string> {
    const words = ({ described, deployed, ran }: Outcome) =>
      [described, deployed, ran].map(({ result }) => result).join(" ");
    return Object.fromEntries(outcomes.map(one => [one.at.replace(`${at("shop")}/`, ""), words(one)]));
  }

  it("says of each component below a folder whether it describes, deploys and runs, and leaves nothing", async () => {
    await writeFiles(at("shop"), SHOP);
    await writeFile(at("props.json"), JSON.stringify(SHOP_PROPS));
    const own = await api.expect(201, "POST", "/components", {
      body: { component_code: SHOP["sources/throws.mjs"] },
    });
    const { code, stdout, stderr } = await examine(
      ...[at("shop"), "--props", at("props.json"), "--json", "--at-once", "4"],
    );
    expect(code, stderr).to.equal(0);
    const report = JSON.parse(stdout);
    expect(resultsOf(report.outcomes)).to.deep.equal({
      "sources/ticks.mjs": "ok ok ok",
      "sources/hook.ts": "ok ok ok",
      "sources/given.mjs": "ok ok ok",
      "actions/note.mjs": "ok ok ok",
      "actions/fails.mjs": "ok ok failed",
      "sources/throws.mjs": "ok ok failed",
      "sources/also-throws.mjs": "ok ok failed",
      "sources/needs.mjs": "ok needs_props not_tried",
      "sources/account.mjs": "ok ok needs_props",
      "sources/no-account.mjs": "ok ok ok",
      "sources/no-package.mjs": "failed not_tried not_tried",
      "sources/syntax.mjs": "failed not_tried not_tried",
    });
    expect(report).to.include({ components: 12, examined: 12 });
    expect(report.deployed).to.deep.equal({ ok: 9, failed: 0, needs_props: 1, not_tried: 2 });
    const causeOf = (path: string) =>
      report.causes.find(({ components }: { components: string[] }) =>
        components.includes(join(at("shop"), path)),
      );
    expect(causeOf("sources/syntax.mjs").cause).to.match(/^syntax\.mjs: line 4, column 7: /);
    expect(causeOf("sources/no-package.mjs").cause).to.include("headwater-no-such-package");
    expect(causeOf("sources/needs.mjs").cause).to.equal("city, shop");
    expect(causeOf("sources/account.mjs").cause).to.equal("shop");
    expect(causeOf("sources/throws.mjs")).to.deep.include({ cause: "Error: no such shop: N" });
    expect(causeOf("sources/throws.mjs").components).to.have.length(2);
    expect(causeOf("actions/fails.mjs").cause).to.include("the shop is closed");
    expect(stdout + stderr).not.to.include(api.apiKey);
    expect(await owned()).to.deep.equal([own.id]);
  });

  it("prints a table and the causes for people", async () => {
    await writeFiles(at("shop"), {
      "a.mjs": working("works"),
      "b.mjs": working("throws", { run: 'throw new Error("out of \u001b[31mpaper");' }),
    });
    const { code, stdout, stderr } = await examine(at("shop"));
    expect(code, stderr).to.equal(0);
    expect(stdout).to.match(/^2 of 2 components$/m);
    expect(stdout).to.match(/^described +2 +0 +0 +0$/m);
    expect(stdout).to.match(/^ran +1 +1 +0 +0$/m);
    expect(stdout).to.match(/^Failed at run: 1\n +1 {2}Error: out of paper\n +\S+\/b\.mjs$/m);
    expect(stderr).to.match(/^Each of them: .*\.jsonl$/m);
  });

  it("reads addresses, and lists of them", async () => {
    await writeFiles(at("shop"), { "a.mjs": working("works") });
    const closed = "http://127.0.0.1:9/none.mjs";
    await writeFile(at("list.txt"), `# two\n${closed}\n\n${closed}?second\n`);
    const words = [at("list.txt"), closed, at("shop/a.mjs")];
    expect((await examine(...words, "--list")).stdout.split("\n")).to.have.length(4);
    // One that came to its end is begun again.
    for (const _ of ["first", "second"]) {
      const { code, stdout, stderr } = await examine(...words, "--json");
      expect(code, stderr).to.equal(0);
      expect(stderr).not.to.include("Going on");
      expect(resultsOf(JSON.parse(stdout).outcomes)).to.deep.equal({
        [closed]: "failed not_tried not_tried",
        [`${closed}?second`]: "failed not_tried not_tried",
        "a.mjs": "ok ok ok",
      });
    }
  });

  it("serves nothing but code of the folder's project", async () => {
    await writeFile(at("secret.json"), '{ "secret": "s3cr3t" }');
    await writeFiles(at("shop"), {
      "package.json": "{}",
      "above.mjs": `import secret from "../secret.json";\n${working("above", { run: "this.$emit(secret);" })}`,
      "link.mjs": `import secret from "./linked.json";\n${working("link", { run: "this.$emit(secret);" })}`,
      "hidden.mjs": `import secret from "./.env.json";\n${working("hidden", { run: "this.$emit(secret);" })}`,
      ".env.json": '{ "secret": "s3cr3t" }',
    });
    await symlink(at("secret.json"), at("shop/linked.json"));
    const { stdout } = await examine(at("shop"), "--json");
    expect(JSON.parse(stdout).described).to.include({ ok: 0, failed: 3 });
    expect(stdout).not.to.include("s3cr3t");
  });

  it("names what is wrong with its input", async () => {
    await writeFile(at("words.txt"), "https://example.com/a.mjs\nnot an address\n");
    await writeFile(at("empty.txt"), "# nothing\n");
    await writeFile(at("props.json"), '{ "key": 5 }');
    await writeFiles(at("shop"), { "a.mjs": working("works") });
    const problems: [args: string[], problem: RegExp, given?: Record<string, string>][] = [
      [[at("gone")], /gone: there is neither a folder nor a file of this name/],
      [[folder.replace(basename(folder), `${basename(folder)}/shop/../state`)], /state: there is neither/],
      [[at("words.txt")], /words\.txt, line 2: must be an http or https URL/],
      [[at("empty.txt")], /empty\.txt: lists no addresses/],
      [[at("shop"), "--props", at("props.json")], /--props: .*: key must be an object/],
      [[at("shop"), "--props", at("none.json")], /none\.json can't be read/],
      [[at("shop"), "--state", at("words.txt")], /words\.txt: is not of these components/],
      [[at("shop")], /is on another machine/, { HEADWATER_URL: "https://headwater.example.com" }],
    ];
    for (const [args, problem, given] of problems) {
      const { code, stderr } = await headwater(["catalogue", ...args], { ...env, ...given });
      expect(stderr).to.match(problem);
      expect(code).to.equal(1);
    }
    await mkdir(at("nothing"));
    expect((await examine(at("nothing"))).stderr).to.match(
      /nothing: there is no component below this folder/,
    );
    for (const args of [[], [at("shop"), "--at-once", "0"], [at("shop"), "--seconds", "x"]]) {
      expect((await examine(...args)).code).to.equal(2);
    }
    expect(await readFile(at("words.txt"), "utf8")).to.match(/^https/);
  });

  it("ends when the server does not respond or the key is unknown, and says that it goes on", async () => {
    await writeFiles(at("shop"), { "a.mjs": working("works") });
    const unknown = await headwater(["catalogue", at("shop")], { ...env, HEADWATER_API_KEY: "hw_unknown" });
    expect(unknown.code).to.equal(1);
    expect(unknown.stderr).to.include("401");
    const away = await headwater(["catalogue", at("shop")], { ...env, HEADWATER_URL: "http://127.0.0.1:9" });
    expect(away.stderr).to.include("no response from http://127.0.0.1:9");
  });
});
