import { Readable } from "node:stream";
import { sourceFolder } from "./source-folder.ts";

/**
 * Returns fixed values where deno would throw, or show what the server is. Security does not depend on this, because the process
 * has no permissions (`spawn.ts`). It keeps a well-meaning component from disturbing the protocol on stdin and stdout, and
 * libraries from failing when they ask about the machine, or from taking it for something else than Node.
 */
export function lockDown(): void {
  const deno = (globalThis as unknown as { Deno: Record<string, unknown> }).Deno;
  for (const name of ["stdin", "stdout", "stderr"]) {
    Object.defineProperty(deno, name, { value: undefined, configurable: true });
  }
  const fixed = (target: object, name: string, value: unknown) =>
    Reflect.defineProperty(target, name, { value, configurable: true, enumerable: true, writable: true });
  // Not imported; see `redirect-tmp.ts`.
  const os = process.getBuiltinModule("node:os");
  fixed(process, "env", {});
  fixed(process, "argv", ["node", "component.js"]);
  // Its property can't be replaced, but set; the title follows it.
  process.execPath = "/usr/local/bin/node";
  const { deno: _deno, typescript: _typescript, ...versions } = process.versions;
  fixed(process, "versions", Object.freeze(versions));
  fixed(process, "stdin", Readable.from([]));
  // It would describe the machine.
  fixed(process.report, "getReport", () => ({}));
  for (const name of ["getuid", "geteuid", "getgid", "getegid"]) fixed(process, name, () => 1000);
  fixed(process, "getgroups", () => [1000]);
  fixed(process, "umask", () => 0o22);
  fixed(process, "constrainedMemory", () => MEMORY);
  fixed(process, "availableMemory", () => MEMORY / 2);
  for (const [name, value] of Object.entries(MACHINE)) fixed(os, name, value);
  fixed(os, "tmpdir", sourceFolder);
  fixed(os, "homedir", sourceFolder);
  fixed(os, "userInfo", () => ({
    uid: 1000,
    gid: 1000,
    username: "component",
    homedir: sourceFolder(),
    shell: null,
  }));
  const { navigator } = globalThis as unknown as { navigator: object };
  const shown = Object.getPrototypeOf(navigator) as Record<string, unknown>;
  for (const name of ["gpu", "userAgentData"]) Reflect.deleteProperty(shown, name);
  for (const [name, value] of Object.entries(NAVIGATOR)) {
    Object.defineProperty(shown, name, { get: () => value, configurable: true, enumerable: true });
  }
}

const MEMORY = 512 * 1024 * 1024;

/** What components see of the machine: always the same, and nothing of the real one. */
const MACHINE = {
  hostname: () => "sandbox",
  cpus: () => [{ model: "sandbox", speed: 1000, times: { user: 0, nice: 0, sys: 0, idle: 0, irq: 0 } }],
  availableParallelism: () => 1,
  networkInterfaces: () => ({}),
  totalmem: () => MEMORY,
  freemem: () => MEMORY / 2,
  release: () => "0",
  version: () => "0",
  uptime: () => 0,
  loadavg: () => [0, 0, 0],
  getPriority: () => 0,
};

/** As `MACHINE`, of the global `navigator`. */
const NAVIGATOR = {
  hardwareConcurrency: 1,
  language: "en-US",
  languages: Object.freeze(["en-US"]),
  platform: "linux",
  userAgent: `Node.js/${parseInt(process.versions.node, 10)}`,
};
