import { spawnSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { readProcfile } from "../../script/lib/procfile.mjs";
import { readConfig } from "../../src/config.ts";
import { root } from "../docs/repository.ts";

/** Prints what it was started with, instead of Node; as an old Node, it fails the check of its version. */
const FAKE_NODE = `#!/bin/sh
case $* in *require-node.js) exit "\${FAKE_CHECK:-0}" ;; esac
printf '%s|' "$PWD" "$@"
printf '\\n%s %s %s' "\${SECRETS_KEY-unset}" "\${ADMIN_PASSWORD-unset}" "\${SECRETS_DIR-unset}"
`;

describe("deploy/start", () => {
  let folder: string;
  let secrets: string;

  before(() => {
    folder = mkdtempSync(join(tmpdir(), "headwater-start-"));
    secrets = join(folder, "secrets");
    mkdirSync(join(folder, "bin"));
    mkdirSync(secrets);
    writeFileSync(join(folder, "bin/node"), FAKE_NODE);
    chmodSync(join(folder, "bin/node"), 0o755);
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  function start(args: string[], env: Record<string, string> = {}) {
    const { status, stdout, stderr } = spawnSync(join(root, "deploy/start"), args, {
      encoding: "utf8",
      cwd: "/",
      env: { PATH: `${join(folder, "bin")}:/usr/bin:/bin`, SECRETS_DIR: secrets, ...env },
    });
    const [command = "", settings = ""] = stdout.split("\n");
    return { status, stderr, words: command.split("|").slice(0, -1), settings };
  }

  for (const [file, prefix] of [
    ["Procfile", ""],
    ["Procfile.small", "small-"],
  ] as const) {
    for (const { name, args } of readProcfile(join(root, file))) {
      it(`starts ${prefix}${name} as ${file} has it, in the project's folder`, () => {
        expect(start([`${prefix}${name}`]).words).to.deep.equal([root.replace(/\/$/, ""), ...args]);
      });
    }
  }

  it("starts nothing on a Node that is too old", () => {
    expect(start(["web"], { FAKE_CHECK: "78" })).to.include({ status: 78, settings: "" });
  });

  it("runs any other command as it is", () => {
    expect(start(["node", "a b", "c"]).words.slice(1)).to.deep.equal(["a b", "c"]);
  });

  it("ends with 64 and one line for a name that is neither a process nor a program", () => {
    for (const name of ["webb", "small-webb", "we[b]", ""]) {
      const { status, stderr } = start([name]);
      expect(status, name).to.equal(64);
      expect(stderr, name).to.match(/neither a process of Procfile/);
    }
    expect(start([]).stderr).to.match(/^usage: /);
  });

  it("reads a setting from each file of the folder of secrets; the environment wins", () => {
    writeFileSync(join(secrets, "SECRETS_KEY"), "with 'quotes' and $dollars\n");
    writeFileSync(join(secrets, "ADMIN_PASSWORD"), "from-file");
    writeFileSync(join(secrets, "bad name;"), "x");
    mkdirSync(join(secrets, "FOLDER"));
    expect(start(["web"]).settings).to.equal("with 'quotes' and $dollars from-file unset");
    const { settings } = start(["web"], { ADMIN_PASSWORD: "given" });
    expect(settings).to.equal("with 'quotes' and $dollars given unset");
  });

  it("needs no folder of secrets", () => {
    expect(start(["web"], { SECRETS_DIR: join(folder, "none") }).settings).to.equal("unset unset unset");
  });
});

describe("deploy/generate-secrets.mjs", () => {
  it("writes secrets that Headwater accepts, the keys for their owner alone, and keeps those that are there", () => {
    const folder = mkdtempSync(join(tmpdir(), "headwater-secrets-"));
    try {
      const generate = () =>
        spawnSync(process.execPath, [join(root, "deploy/generate-secrets.mjs"), folder], { encoding: "utf8" })
          .stdout;
      const readAll = () =>
        Object.fromEntries(readdirSync(folder).map(name => [name, readFileSync(join(folder, name), "utf8")]));
      expect(generate()).to.match(/generated SECRETS_KEY/);
      const first = readAll();
      expect(generate()).to.equal("");
      expect(readAll()).to.deep.equal(first);
      const modeOf = (name: string) => statSync(join(folder, name)).mode & 0o777;
      expect(modeOf("SECRETS_KEY")).to.equal(0o400);
      // Prometheus reads it, as another user.
      expect(modeOf("METRICS_TOKEN")).to.equal(0o444);
      const stores = { MONGODB_URL: "mongodb://m", REDIS_URL: "redis://r" };
      expect(readConfig({ ...stores, ...first }).secretsKeys[0]).to.have.length(32);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
