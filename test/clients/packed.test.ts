// runs-long: npm test has test/script/packages.test.ts and test/clients/package.test.ts

import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { PACKAGES, packAll } from "../../script/lib/packages.mjs";
import { root } from "../support/built.ts";
import { type System, startSystem } from "../support/system.ts";

const run = promisify(execFile);
const MAX_COMMAND_LINE_BYTES = 10 * 1024 * 1024;

const USE = `import { Headwater, type Webhook } from "@headwater/client";
import { verify } from "@headwater/client/webhooks";
import { defineSource } from "@headwater/component";

const headwater = new Headwater({ url: "http://127.0.0.1:1", apiKey: "hw_none" });
export const first = async (): Promise<Webhook | undefined> => (await headwater.webhooks.list()).data[0];
export default defineSource({ name: "One", version: "0.0.1", run() { this.$emit(typeof verify); } });
`;

describe("the packages, installed from what is published into an empty folder", () => {
  let system: System;
  let apiKey: string;
  let folder: string;
  let project: string;

  before(async () => {
    system = await startSystem();
    ({ apiKey } = await system.user());
    folder = await mkdtemp(join(tmpdir(), "headwater-packed-"));
    project = join(folder, "project");
    await mkdir(project);
    // The server is in test/clients/packed-server.test.ts.
    const packages = PACKAGES.filter(one => one.folder !== ".");
    const tarballs = await packAll({ root, outDir: join(folder, "packages"), say: () => {}, packages });
    await writeFile(join(project, "package.json"), '{ "private": true }');
    // They depend on nothing, so that no registry is asked.
    await run("npm", ["install", "--offline", "--no-audit", "--no-fund", ...tarballs], { cwd: project });
  });
  after(async () => {
    await rm(folder, { recursive: true, force: true });
    await system?.stop();
  });

  /** Runs the installed command line as somebody who has nothing but a key. */
  const headwater = (...args: string[]) => {
    const env = {
      PATH: process.env.PATH,
      HOME: folder,
      HEADWATER_URL: system.baseUrl,
      HEADWATER_API_KEY: apiKey,
    };
    return run("npx", ["headwater", ...args], { cwd: project, env });
  };

  it("bring nothing else with them", async () => {
    expect(await readdir(join(project, "node_modules/@headwater"))).to.have.members([
      "cli",
      "client",
      "component",
    ]);
    const others = (await readdir(join(project, "node_modules"))).filter(name => !name.startsWith("."));
    expect(others).to.deep.equal(["@headwater"]);
  });

  it("have a command line of at most 10 MB", async () => {
    const installed = join(project, "node_modules/@headwater/cli");
    const files = await readdir(installed, { recursive: true, withFileTypes: true });
    const sizes = await Promise.all(
      files
        .filter(file => file.isFile())
        .map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size),
    );
    expect(sizes.reduce((sum, size) => sum + size, 0)).to.be.within(1, MAX_COMMAND_LINE_BYTES);
  });

  it("have the licences of the packages that are part of the command line", async () => {
    const text = await readFile(join(project, "node_modules/@headwater/cli/THIRD-PARTY-LICENSES"), "utf8");
    for (const name of ["commander", "undici", "yaml"])
      expect(text).to.match(new RegExp(`^${name} \\d`, "m"));
    expect(text).to.not.match(/^(mongoose|ioredis|bullmq) /m);
  });

  /** Runs what must fail. */
  const failing = (...args: string[]) =>
    headwater(...args).then(
      () => ({ code: 0, stderr: "" }),
      (error: { code: number; stderr: string }) => error,
    );

  it("list, apply and deploy with an API key", async () => {
    const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
    expect((await headwater("--version")).stdout).to.contain(version);
    await writeFile(join(project, "headwater.yaml"), "project: packed\nworkflows:\n  orders:\n");
    await headwater("apply", "--file", "headwater.yaml");
    expect((await headwater("workflow", "list")).stdout).to.match(/packed\/orders/);

    await headwater("component", "new", "greeting.mjs", "--kind", "http");
    expect((await failing("deploy", "greeting.mjs")).stderr).to.equal(
      "headwater: reading the files of a component needs esbuild: install it beside @headwater/cli\n",
    );
    // As `npm install esbuild` does it.
    await symlink(join(root, "node_modules/esbuild"), join(project, "node_modules/esbuild"));
    await headwater("deploy", "greeting.mjs", "--name", "Greeting");
    expect((await headwater("source", "list")).stdout).to.match(/^greeting /im);
  });

  it("say where the commands are that need the server", async () => {
    for (const args of [
      ["dev", "greeting.mjs"],
      ["doctor"],
      ["user", "create", "--email", "one@example.test"],
    ]) {
      const { code, stderr } = await failing(...args);
      expect(code, args.join(" ")).to.equal(1);
      expect(stderr, args.join(" ")).to.match(
        /^headwater: this command needs parts of the server.*: run bin\/headwater of a checkout/,
      );
    }
  });

  it("are imported and required", async () => {
    const names = '["@headwater/client", "@headwater/client/webhooks"]';
    await writeFile(
      join(project, "import.mjs"),
      `for (const name of ${names}) console.log(Object.keys(await import(name)).includes("verify"));`,
    );
    await writeFile(
      join(project, "require.cjs"),
      `for (const name of ${names}) console.log(Object.keys(require(name)).includes("verify"));`,
    );
    for (const file of ["import.mjs", "require.cjs"]) {
      expect((await run(process.execPath, [file], { cwd: project })).stdout, file).to.equal("false\ntrue\n");
    }
  });

  for (const [module, resolution, type] of [
    ["node16", "node16", "module"],
    ["nodenext", "nodenext", "module"],
    ["nodenext", "nodenext", "commonjs"],
    ["esnext", "bundler", "module"],
  ]) {
    it(`have types for a project of type ${type} with moduleResolution ${resolution}`, async () => {
      const using = await mkdtemp(join(project, "using-"));
      await writeFile(join(using, "package.json"), JSON.stringify({ type }));
      await mkdir(join(using, "node_modules/@types"), { recursive: true });
      await symlink(join(root, "node_modules/@types/node"), join(using, "node_modules/@types/node"));
      await symlink(join(root, "node_modules/undici-types"), join(using, "node_modules/undici-types"));
      await writeFile(join(using, "use.ts"), USE);
      const compiler = join(root, "node_modules/typescript/bin/tsc");
      const options = ["--module", module, "--moduleResolution", resolution, "--types", "node"] as string[];
      const flags = ["--strict", "--noEmit", "--target", "es2022", "--ignoreConfig", ...options];
      await run(process.execPath, [compiler, ...flags, "use.ts"], { cwd: using }).catch(({ stdout }) =>
        expect.fail(stdout),
      );
    });
  }
});
