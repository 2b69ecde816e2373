// runs-long: npm test has test/cli/completion/completion.test.ts, whose scripts are the same

import { spawnSync } from "node:child_process";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { expect } from "chai";
import type { Api } from "../../support/api.ts";
import { skipBecause } from "../../support/skip.ts";
import { type System, startSystem } from "../../support/system.ts";
import { headwater } from "../command.ts";
import { openShells, type Shells } from "./shells.ts";

/** What a shell would run, expand or break, and readline. */
const HOSTILE = [
  "$(touch made)",
  "`touch made`",
  "bad; touch made",
  "bad & touch made #",
  "bad > made",
  "bad\\",
  'it\'s a "quote"',
  "*",
  "~",
  "!!",
  "$HOME",
  "größe: 中",
];

describe("headwater completion of names", () => {
  let system: System;
  let api: Api;
  let env: Record<string, string>;
  let shells: Shells;
  const ids: Record<string, string> = {};
  const webhook = async (name?: string, of = api): Promise<string> =>
    (await of.expect(201, "POST", "/webhooks", { body: { url: "https://example.com/", name } })).id;

  before(async () => {
    system = await startSystem();
    api = await system.user();
    env = { HEADWATER_URL: system.baseUrl, HEADWATER_API_KEY: api.apiKey };
    shells = await openShells();
    for (const name of ["inbox", "shop: eu", "shop: us", "joe's hook", "joe's inbox"]) {
      ids[name] = await webhook(name);
    }
    ids.twin = await webhook("twin");
    ids.other = await webhook("twin");
    ids.nameless = await webhook();
    ids.flag = await webhook("--yes");
    ids.flow = (await api.expect(201, "POST", "/workflows", { body: { name: "orders" } })).id;
    ids.subscription = (
      await api.expect(200, "POST", "/subscriptions", {
        query: { emitter_id: `${ids.flow}`, listener_id: `${ids.inbox}` },
      })
    ).id;
  });
  after(async () => {
    await shells.close();
    await system.stop();
  });

  const bash = (line: string, more: Record<string, string> = {}) => shells.bash(line, { ...env, ...more });

  it("completes names, of what has none or not alone the id, and ids where no name begins so", async () => {
    expect(await bash("headwater webhook show in")).to.deep.equal(["inbox"]);
    const { twin, other, nameless, flag } = ids;
    const all = ["inbox", "shop:\\ eu", "shop:\\ us", "joe\\'s\\ hook", "joe\\'s\\ inbox"];
    expect(await bash("headwater webhook show ")).to.have.members([...all, twin, other, nameless, flag]);
    expect(await bash(`headwater webhook show ${ids.inbox?.slice(0, -1)}`)).to.include(ids.inbox);
  });

  it("completes by what the argument or option may be", async () => {
    const { flow, subscription } = ids;
    expect(await bash("headwater subscription show ")).to.deep.equal([subscription]);
    expect(await bash("headwater subscription create ")).to.deep.equal(["orders"]);
    expect(await bash("headwater subscription create orders ")).to.include.members(["inbox", flow]);
    expect(await bash("headwater subscription create --channel x orders inb")).to.deep.equal(["inbox"]);
    expect(await bash("headwater publish o")).to.deep.equal(["orders"]);
    expect(await bash("headwater delivery list --emitter o")).to.deep.equal(["orders"]);
    expect(await bash("headwater delivery list --webhook inbox --emitter o")).to.deep.equal(["orders"]);
    expect(await bash("headwater webhook show inbox --js")).to.deep.equal(["--json"]);
    expect(await bash("headwater workflow create o")).to.deep.equal([]);
  });

  it("asks the server that the line names", async () => {
    const other = await system.user();
    await other.expect(201, "POST", "/workflows", { body: { name: "theirs" } });
    const { HEADWATER_URL: url } = env;
    const key = other.apiKey;
    expect(await bash(`headwater --url ${url} --key ${key} workflow show t`)).to.deep.equal(["theirs"]);
    expect(await bash(`headwater workflow show --url=${url} --key '${key}' t`)).to.deep.equal(["theirs"]);
  });

  it("goes on behind blanks, quotes and colons, as bash parts a line", async () => {
    const line = "headwater webhook show ";
    expect(await bash(`${line}sho`)).to.have.members(["shop:\\ eu", "shop:\\ us"]);
    expect(await bash(`${line}shop:`)).to.have.members(["\\ eu", "\\ us"]);
    expect(await bash(`${line}shop:\\ e`)).to.have.members(["\\ eu"]);
    expect(await bash(`${line}joe\\'s\\ h`)).to.deep.equal(["joe\\'s\\ hook"]);
    expect(await bash(`${line}"joe's h`)).to.deep.equal(["joe's hook"]);
    // Between single quotes it can't stand.
    expect(await bash(`${line}'joe`)).to.deep.equal([]);
  });

  for (const shell of ["bash", "fish", "zsh"] as const) {
    it(`leaves hostile names as they are in ${shell}`, async function () {
      if (spawnSync(shell, ["--version"]).error) skipBecause(this, `there is no ${shell} on the PATH`);
      const own = await system.user();
      for (const name of HOSTILE) await webhook(name, own);
      const their = { ...env, HEADWATER_API_KEY: own.apiKey };
      const line = "headwater webhook show ";
      if (shell === "bash") {
        const completed = await shells.bash(line, their);
        const read = completed.map(word =>
          spawnSync("bash", ["-c", `printf %s ${word}`], { encoding: "utf8" }),
        );
        expect(read.map(({ stdout }) => stdout)).to.have.members(HOSTILE);
        expect(await shells.bash(`${line}"`, their)).to.have.members([
          "bad; touch made",
          "bad & touch made #",
          "bad > made",
          "*",
          "~",
          "größe: 中",
        ]);
      } else if (shell === "fish") {
        expect(await shells.fish(line, their)).to.have.length(HOSTILE.length);
      } else {
        // What zsh's own completion is given, which quotes it.
        const script = `compdef() { }; compadd() { print -rl -- "\${(@P)2}" }; . ${shells.files.zsh}
          words=(headwater webhook show ""); CURRENT=4; _headwater`;
        const printed = await shells.zsh(["-f", "-c", script], their);
        expect(printed.trimEnd().split("\n")).to.have.members(HOSTILE);
      }
      expect(await shells.made()).to.deep.equal([]);
    });
  }

  it("offers no name that would not be shown as it is, and at most 100", async () => {
    const own = await system.user();
    const hidden: string[] = [];
    for (const name of ["a\tb", "a\nb", "a\u202eb"]) hidden.push(await webhook(name, own));
    const their = { ...env, HEADWATER_API_KEY: own.apiKey };
    expect(await shells.bash("headwater webhook show ", their)).to.have.members(hidden);
    for (let n = 0; n < 60; n += 1) {
      await webhook(`hook${n}`, own);
      await own.expect(201, "POST", "/workflows", { body: { name: `flow${n}` } });
    }
    const line = "headwater subscription create flow1 ";
    expect(await shells.bash(line, their)).to.have.length(100);
    expect(await shells.bash(`${line}p_`, their)).to.have.length(60);
  });

  it("says nothing without settings, with a key that is none and with a server that is away or hangs", async () => {
    const server = createServer();
    await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const asked = (given: Record<string, string>) =>
      headwater(["__complete", "--", "webhook", "show", ""], given);
    try {
      for (const given of [
        {},
        { ...env, HEADWATER_API_KEY: "hw_none" },
        { ...env, HEADWATER_URL: "http://127.0.0.1:1" },
        { ...env, HEADWATER_URL: `http://127.0.0.1:${port}` },
      ]) {
        const startedAt = Date.now();
        expect(await asked(given)).to.deep.equal({ code: 0, stdout: "", stderr: "" });
        expect(Date.now() - startedAt).to.be.below(15_000);
      }
    } finally {
      server.close();
    }
    expect(await headwater(["__complete"])).to.deep.equal({ code: 0, stdout: "", stderr: "" });
  });
});
