// runs-long: npm test has test/script/packages.test.ts

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { lstat, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { mongodProgram } from "../../script/lib/mongod.mjs";
import { PACKAGES, packAll } from "../../script/lib/packages.mjs";
import { redisProgram } from "../../script/lib/redis.mjs";
import { root } from "../support/built.ts";
import { startReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";

const run = promisify(execFile);
/** What `npm run test:packed` says: npm installs the package with all its dependencies from the registry of this machine. */
const IS_FROM_REGISTRY = process.env.PACKED === "registry";
const MAX_TARBALL_BYTES = 12 * 1024 * 1024;
const STARTED_MS = 120_000;

describe("the package headwater, installed from what is published into an empty folder", () => {
  let folder: string;
  let project: string;
  let tarball: string;
  let env: Record<string, string>;
  let server: ChildProcess | undefined;
  let printed = "";

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "headwater-packed-"));
    project = join(folder, "project");
    await mkdir(project);
    await writeFile(join(project, "package.json"), '{ "private": true }');
    const packages = PACKAGES.filter(one => one.folder === ".");
    const say = () => {};
    [tarball = ""] = await packAll({ root, outDir: join(folder, "packages"), say, packages });
    if (IS_FROM_REGISTRY) await installFromRegistry();
    else await installFromHere();
    const stores = await Promise.all([mongodProgram({ root, say }), redisProgram({ root, say })]);
    env = {
      PATH: [...stores.map(program => dirname(program)), process.env.PATH].join(":"),
      HOME: folder,
      PORT: "0",
    };
  });
  after(async () => {
    server?.kill("SIGKILL");
    await rm(folder, { recursive: true, force: true });
  });

  const installed = () => join(project, "node_modules/headwater");
  const readInstalled = async (file: string) => JSON.parse(await readFile(join(installed(), file), "utf8"));

  async function installFromRegistry() {
    await run("npm", ["install", "--no-audit", "--no-fund", "--ignore-scripts", tarball], { cwd: project });
  }

  /** As npm does it, but with the packages that this checkout has: those that are only for development are not found. */
  async function installFromHere() {
    await mkdir(join(project, "node_modules/.bin"), { recursive: true });
    await run("tar", ["-xzf", tarball, "-C", folder]);
    await run("mv", [join(folder, "package"), installed()]);
    await symlink("../headwater/bin/headwater", join(project, "node_modules/.bin/headwater"));
    const { packages } = JSON.parse(await readFile(join(root, "package-lock.json"), "utf8"));
    const names = Object.entries<{ dev?: boolean; link?: boolean }>(packages)
      .filter(([, { dev, link }]) => !dev && !link)
      .flatMap(([path]) => /^node_modules\/((?:@[^/]+\/)?[^/]+)$/.exec(path)?.[1] ?? [])
      // npm leaves out those of other platforms.
      .filter(name => existsSync(join(root, "node_modules", name)));
    for (const name of names) {
      const link = join(project, "node_modules", name);
      await mkdir(dirname(link), { recursive: true });
      await symlink(join(root, "node_modules", name), link);
    }
  }

  const headwater = (...args: string[]) => run("npx", ["headwater", ...args], { cwd: project, env });

  /** Every file of the package, and when it was written. */
  async function filesOfPackage() {
    const files = await readdir(installed(), { recursive: true });
    const own = files.filter(file => !file.includes("node_modules/")).sort();
    return Promise.all(own.map(async file => [file, (await lstat(join(installed(), file))).mtimeMs]));
  }

  it("is small, and has the exact versions of its dependencies", async () => {
    expect((await stat(tarball)).size).to.be.within(1, MAX_TARBALL_BYTES);
    const { dependencies } = await readInstalled("package.json");
    if (!IS_FROM_REGISTRY) return;
    for (const [name, version] of Object.entries(dependencies)) {
      const manifest = await readFile(join(project, "node_modules", name, "package.json"), "utf8");
      expect(JSON.parse(manifest).version, name).to.equal(version);
    }
  });

  it("starts a whole server, with its data in the user's folder, and signs in", async () => {
    const before = await filesOfPackage();
    const child = spawn("npx", ["headwater", "start"], { cwd: project, env, detached: true });
    server = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", text => {
        printed += text;
      });
    }
    const linkIn = () => /^Dashboard \(.*npx headwater dashboard.*\): (http\S+)$/m.exec(printed)?.[1];
    await until(() => linkIn() || child.exitCode !== null, { timeoutMs: STARTED_MS, what: "the link" });
    const link = linkIn() ?? expect.fail(printed);
    const data = join(folder, ".local/share/headwater");
    expect(printed).to.include(`Its data, settings and keys are in ${data}.`);
    expect(await readdir(data)).to.include.members(["dev.env", "mongo", "redis"]);

    const { origin } = new URL(link);
    for (const path of ["/dashboard/", "/docs/", "/docs/start", "/v1/openapi.json"]) {
      const response = await fetch(origin + path);
      expect(response.status, path).to.equal(200);
      expect(await response.text(), path).to.have.length.above(1000);
    }
    expect(link).to.match(/\/dashboard\/?#?/);
    expect(await filesOfPackage()).to.deep.equal(before);
  });

  it("delivers an event, by its own command line without any settings", async () => {
    const receiver = await startReceiver();
    try {
      expect((await headwater("gallery", "list")).stdout).to.match(/headwater-schedule/);
      const code =
        'export default { name: "Hi", version: "1", props: { http: "$.interface.http" }, run() {} };';
      await writeFile(join(project, "hi.mjs"), code);
      await headwater("deploy", "hi.mjs", "--name", "hi");
      await headwater("webhook", "create", receiver.url, "--name", "inbox");
      await headwater("subscription", "create", "hi", "inbox");
      await headwater("publish", "hi", "--event", '{"n": 1}');
      const [got] = await until(() => receiver.requests.length > 0 && receiver.requests);
      expect(got?.raw).to.equal('{"n": 1}');
      await headwater("doctor");
    } finally {
      await receiver.close();
    }
  });

  it("stops everything after Ctrl-C", async () => {
    const child = server as ChildProcess;
    // As a terminal does: every process in its foreground. npx itself may end before the server.
    process.kill(-(child.pid ?? 0), "SIGINT");
    await until(() => /^Stopped\.$/m.test(printed), { what: "the line that all has stopped" });
    const left = async () => {
      const { stdout } = await run("ps", ["-ww", "-eo", "args"]);
      return stdout.split("\n").filter(line => line.includes(folder));
    };
    await until(async () => (await left()).length === 0, { what: "every process to be gone" });
  });
});
