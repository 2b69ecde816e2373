import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect } from "chai";
import { programOf, root } from "../support/built.ts";
import { until } from "../support/until.ts";

const LINES = 4000;

/** Starts a process that logs lines to `fd`, and one more each 20 ms after a message; it reports how many were dropped. */
function startLogging(fd: number): ChildProcess {
  const flags = programOf("src/lib/logger.ts").slice(0, -1);
  const from = (source: string) => JSON.stringify(pathToFileURL(programOf(source).at(-1) ?? "").href);
  const code = `import { createLogger } from ${from("src/lib/logger.ts")};
    import { droppedLines } from ${from("src/lib/log-output.ts")};
    const log = createLogger("test", "info");
    for (let n = 0; n < ${LINES}; n++) log.info({ n, text: "y".repeat(500) }, "line");
    process.send(droppedLines());
    process.once("message", () => setInterval(() => log.info({}, "later"), 20));`;
  return spawn(process.execPath, [...flags, "--input-type=module", "--eval", code], {
    cwd: root,
    stdio: ["ignore", fd, "inherit", "ipc"],
  });
}

/** Returns what a pipe holds now. */
function readNow(fd: number): string {
  const buffer = Buffer.alloc(1024 * 1024);
  let text = "";
  try {
    for (let n = readSync(fd, buffer); n > 0; n = readSync(fd, buffer)) text += buffer.toString("utf8", 0, n);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
  }
  return text;
}

describe("the output of a log", () => {
  it("drops and counts the lines that a stopped reader leaves no room for, says so, and goes on with whole lines", async () => {
    const folder = mkdtempSync(join(tmpdir(), "log-output-"));
    const path = join(folder, "pipe");
    expect(spawnSync("mkfifo", [path]).status).to.equal(0);
    const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const writer = openSync(path, constants.O_WRONLY);
    const child = startLogging(writer);
    try {
      const [dropped] = (await once(child, "message", { signal: AbortSignal.timeout(20_000) })) as [number];
      // 64 KB in the pipe, 1 MB in the process.
      expect(dropped).to.be.greaterThan(1000).and.lessThan(LINES);
      child.send("go on");
      let text = "";
      await until(
        () => {
          text += readNow(reader);
          return text.includes('"later"');
        },
        { what: "later lines" },
      );
      const lines = text.slice(0, text.lastIndexOf("\n")).split("\n");
      const parsed = lines.map(line => JSON.parse(line) as { msg: string; lines?: number });
      expect(parsed.filter(({ msg }) => msg === "line")).to.have.length(LINES - dropped);
      const said = parsed.filter(({ msg }) => msg === "lines of the log were dropped");
      // What was logged before the reader went on had no room either.
      expect(said).to.have.length(1);
      expect(said[0]?.lines).to.be.at.least(dropped);
    } finally {
      child.kill("SIGKILL");
      closeSync(reader);
      closeSync(writer);
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
