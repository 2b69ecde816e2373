import { spawn } from "node:child_process";
import { once } from "node:events";
import { pathToFileURL } from "node:url";
import { expect } from "chai";
import { programOf, root } from "../support/built.ts";

const STOPS: [what: string, stop: string, code: number | null, signal: string | null][] = [
  ["ends with code 0 once everything has stopped", "async () => {}", 0, null],
  ["ends with code 1 if stopping fails", "async () => { throw new Error('no') }", 1, null],
  ["ends with code 1 if stopping never ends", "() => new Promise(() => {})", 1, null],
  [
    "is killed if its thread stands still while it stops",
    "async () => { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0) }",
    null,
    "SIGKILL",
  ],
];

describe("a process that gets SIGTERM", () => {
  for (const [what, stop, expectedCode, expectedSignal] of STOPS) {
    it(what, async () => {
      const flags = programOf("src/lib/shutdown.ts").slice(0, -1);
      const url = pathToFileURL(programOf("src/lib/shutdown.ts").at(-1) ?? "").href;
      const code = `import { onShutdown } from ${JSON.stringify(url)};
        const log = { info() {}, warn() {}, error() {} };
        onShutdown(log, ${stop}, 300);
        setInterval(() => {}, 1000);
        console.log("ready");`;
      const child = spawn(process.execPath, [...flags, "--input-type=module", "--eval", code], {
        cwd: root,
        stdio: ["ignore", "pipe", "inherit"],
      });
      try {
        await once(child.stdout, "data");
        child.kill("SIGTERM");
        const ended = await once(child, "exit", { signal: AbortSignal.timeout(10_000) });
        expect(ended).to.deep.equal([expectedCode, expectedSignal]);
      } finally {
        child.kill("SIGKILL");
      }
    });
  }
});
