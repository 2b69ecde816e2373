// runs-long: npm test has test/lib/logger.test.ts and test/lib/shutdown.test.ts
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { choosePort } from "../../script/lib/ports.mjs";
import { programOf } from "../support/built.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { skipBecause } from "../support/skip.ts";
import { until } from "../support/until.ts";
import { BAD_OUTPUTS, type BadOutput, startWith } from "./unwritable-log.ts";
import { environmentOf } from "./worker-process.ts";

const REQUESTS = 100;
const READY_MS = 60_000;
const STOPS_WITHIN_MS = 10_000;

describe("a process whose log can't be written", () => {
  let platform: TestPlatform;
  let folder: string;
  before(async () => {
    platform = await openTestPlatform();
    folder = mkdtempSync(join(tmpdir(), "unwritable-"));
  });
  after(async () => {
    rmSync(folder, { recursive: true, force: true });
    await platform.destroy();
  });

  async function serves(output: BadOutput, name: string): Promise<void> {
    const port = await choosePort(0);
    const env = { ...environmentOf(platform.config), LOG_LEVEL: "debug", METRICS_TOKEN: "t".repeat(16) };
    const source = name === "web" ? "src/server.ts" : `workers/${name}.ts`;
    const child = startWith(output, programOf(source), {
      ...env,
      PORT: String(port),
      WORKER_PORT: String(port),
    });
    const ended = once(child, "exit");
    try {
      await Promise.race([
        once(child, "message", { signal: AbortSignal.timeout(READY_MS) }),
        ended.then(([code]) => Promise.reject(new Error(`ended with ${code}`))),
      ]);
      output.spoil(child);
      const get = (path: string) =>
        fetch(`http://127.0.0.1:${port}${path}`, {
          headers: { authorization: `Bearer ${"t".repeat(16)}` },
          signal: AbortSignal.timeout(5000),
        });
      if (name === "web") {
        for (let i = 0; i < REQUESTS; i++) await (await get(`/v1/nothing`)).arrayBuffer();
        if (output.isLost) await dropsLines(get);
      }
      expect((await get("/healthz")).status).to.equal(200);
      child.kill("SIGTERM");
      const deadline = AbortSignal.timeout(STOPS_WITHIN_MS);
      const stopped = await Promise.race([ended, once(deadline, "abort").then(() => ["still alive"])]);
      expect(stopped[0]).to.equal(0);
    } finally {
      child.kill("SIGKILL");
      output.close();
    }
  }

  async function dropsLines(get: (path: string) => Promise<Response>): Promise<void> {
    const count = /^headwater_log_lines_dropped_total (\d+)/m;
    const dropped = async () => Number(count.exec(await (await get("/metrics")).text())?.[1]);
    await until(async () => (await dropped()) > 0, { what: "lines to be dropped and counted" });
  }

  for (const [what, open] of Object.entries(BAD_OUTPUTS)) {
    it(`serves requests and stops in order: web, ${what}`, async function () {
      const output = open(folder) ?? skipBecause(this, "this process may not mount a disk");
      await serves(output, "web");
    });
  }

  for (const name of ["runs", "emissions", "deliveries", "deletions", "all"]) {
    it(`serves and stops in order: ${name}, a device that is always full`, async () => {
      const output = BAD_OUTPUTS["a device that is always full"]?.(folder) as BadOutput;
      await serves(output, name);
    });
  }

  it("ends with the program that started it, when that is killed", async () => {
    const started = programOf("src/server.ts");
    const code = `const { spawn } = require("node:child_process");
      const child = spawn(process.execPath, ${JSON.stringify(started)}, { detached: true, stdio: ["ignore", "pipe", "pipe", "ipc"] });
      child.on("message", () => console.log(child.pid));`;
    const port = String(await choosePort(0));
    const parent = spawn(process.execPath, ["--eval", code], {
      env: { PATH: process.env.PATH, ...environmentOf(platform.config), PORT: port },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [pid] = (await once(parent.stdout, "data", { signal: AbortSignal.timeout(READY_MS) })).map(Number);
    parent.kill("SIGKILL");
    await until(() => !isAlive(pid as number), { timeoutMs: STOPS_WITHIN_MS, what: "the orphan to end" });
  });
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
