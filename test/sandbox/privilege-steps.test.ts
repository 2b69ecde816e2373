// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these strings are code that the confined process evaluates
import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { denoEnvironment, findDeno } from "../../src/sandbox/deno-command.ts";
import { landlockPrefix } from "../../src/sandbox/privilege-steps.ts";
import { skipBecause } from "../support/skip.ts";

const [PERL, SETPRIV] = ["/usr/bin/perl", "/usr/bin/setpriv"];

/** What deno with all permissions, as after a hole in it, does as the user of the worker; `at` says where. */
const ATTEMPTS = {
  "reads a file of the worker": "return Deno.readTextFileSync(at.secret)",
  "lists a folder of the worker": "return [...Deno.readDirSync(at.folder)].length",
  "writes beside its folder": "return Deno.writeTextFileSync(at.secret, 'x')",
  "reads a link out of its folder":
    "Deno.symlinkSync(at.secret, 'link'); return Deno.readTextFileSync('link')",
  "moves a file out of its folder":
    "Deno.writeTextFileSync('a', ''); return Deno.renameSync('a', at.folder + '/a')",
  "cuts a file that it may read": "return Deno.truncateSync(at.readable)",
  "reads the worker's environment": "return Deno.readTextFileSync(`/proc/${at.worker}/environ`)",
  "reads the worker's memory": "return Deno.openSync(`/proc/${at.worker}/mem`).constructor.name",
  "runs a program": "return new Deno.Command('/usr/bin/id').outputSync().code",
};
/** What later versions of the kernel's interface take away. */
const LATER = [
  [
    4,
    "connects by TCP",
    "return (await Deno.connect({ hostname: '127.0.0.1', port: at.port })).constructor.name",
  ],
  [4, "listens", "return Deno.listen({ port: 0, hostname: '127.0.0.1' }).addr.port"],
  [6, "ends the worker", "return Deno.kill(at.worker, 'SIGTERM')"],
] as const;

describe("Landlock", () => {
  let folder: string;
  let version: number;
  const victim = spawn("sleep", ["600"], { env: { SECRET: "1" }, stdio: "ignore" });
  const server = createServer(socket => socket.destroy());

  before(async function () {
    if (process.platform !== "linux" || !existsSync(PERL) || !existsSync(SETPRIV))
      skipBecause(this, "it takes Linux, perl and setpriv");
    const asked = spawnSync(PERL, ["-e", "print syscall(444, 0, 0, 1)"], { encoding: "utf8" });
    version = Number(asked.stdout);
    if (version < 1) skipBecause(this, "the kernel has no Landlock");
    folder = await mkdtemp(join(tmpdir(), "headwater-landlock-"));
    await writeFile(join(folder, "secret"), "s");
    await new Promise<void>(done => server.listen(0, "127.0.0.1", done));
  });
  after(async () => {
    victim.kill("SIGKILL");
    server.close();
    if (folder) await rm(folder, { recursive: true, force: true });
  });

  /** Evaluates code in a confined deno, which has a folder of its own and a file that it may read. */
  async function evaluate(code: string): Promise<{ stdout: string; stderr: string }> {
    const own = await mkdtemp(join(folder, "own-"));
    const readable = join(own, "..", `${own.slice(-6)}.readable`);
    await writeFile(readable, "readable");
    const at = {
      ...{ secret: join(folder, "secret"), folder, readable, worker: victim.pid },
      port: (server.address() as AddressInfo).port,
    };
    const body = `const at = ${JSON.stringify(at)}; console.log("GOT", await (async () => { ${code} })());`;
    const prefix = landlockPrefix(PERL, findDeno(), { readable: [readable], writable: [own] });
    const child = spawn(SETPRIV, ["--no-new-privs", ...prefix, findDeno(), "eval", "--quiet", body], {
      cwd: own,
      env: denoEnvironment(folder),
    });
    let [stdout, stderr] = ["", ""];
    child.stdout.on("data", (chunk: Buffer) => {
      stdout += chunk;
    });
    child.stderr.on("data", (chunk: Buffer) => {
      stderr += chunk;
    });
    await new Promise(done => child.once("close", done));
    return { stdout, stderr };
  }

  it("leaves a process what is listed, and no more rights than to read where it says so", async () => {
    const { stdout, stderr } = await evaluate(`
      Deno.mkdirSync("a"); Deno.writeTextFileSync("a/b", "mine"); Deno.renameSync("a/b", "c"); Deno.removeSync("a");
      return [Deno.readTextFileSync("c"), Deno.readTextFileSync(at.readable), Deno.readTextFileSync("/proc/self/stat").length > 0];`);
    expect(stdout.trim(), stderr).to.equal(`GOT [ "mine", "readable", true ]`);
  });

  for (const [what, code] of Object.entries(ATTEMPTS)) {
    it(`is in the way of one that ${what}`, async () => {
      const { stdout, stderr } = await evaluate(code);
      expect(stdout).to.equal("");
      expect(stderr).to.match(/EACCES|EPERM|EXDEV|Permission denied|not permitted|os error/i);
    });
  }
  for (const [since, what, code] of LATER) {
    it(`is in the way of one that ${what}`, async function () {
      if (version < since) skipBecause(this, `the kernel's Landlock is version ${version}`);
      const { stdout, stderr } = await evaluate(code);
      expect(stdout).to.equal("");
      expect(stderr).to.match(/EACCES|EPERM|Permission denied|not permitted/i);
    });
  }
});
