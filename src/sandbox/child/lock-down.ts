import process from "node:process";
import { Readable } from "node:stream";
import { sourceFolder } from "./source-folder.ts";

/**
 * Removes globals that a component has no use for, adds the one that it may expect, and returns fixed values where deno would
 * throw. Security does not depend on this, because the process has no permissions (`spawn.ts`). It keeps a well-meaning component from
 * disturbing the protocol on stdin and stdout, and libraries from failing when they ask about the machine.
 */
export function lockDown(): void {
  const deno = (globalThis as unknown as { Deno: Record<string, unknown> }).Deno;
  for (const name of ["stdin", "stdout", "stderr"]) {
    Object.defineProperty(deno, name, { value: undefined, configurable: true });
  }
  for (const name of ["alert", "confirm", "prompt", "Worker", "close", "localStorage", "sessionStorage"]) {
    Reflect.deleteProperty(globalThis, name);
  }
  // Code for other platforms wraps the component in it, without an import, for the sake of its types.
  Object.assign(globalThis, { defineComponent: (component: unknown) => component });
  const fixed = (target: object, name: string, value: unknown) =>
    Reflect.defineProperty(target, name, { value, configurable: true, enumerable: true, writable: true });
  // Not imported; see `redirect-tmp.ts`.
  const os = process.getBuiltinModule("node:os");
  fixed(process, "env", {});
  fixed(process, "argv", ["node", "component.js"]);
  fixed(process, "argv0", "node");
  fixed(process, "execPath", "/usr/local/bin/node");
  fixed(process, "stdin", Readable.from([]));
  // It would describe the machine.
  fixed(process.report, "getReport", () => ({}));
  for (const name of ["getuid", "geteuid", "getgid", "getegid"]) fixed(process, name, () => 1000);
  fixed(process, "getgroups", () => [1000]);
  fixed(process, "umask", () => 0o22);
  for (const [name, value] of Object.entries(MACHINE)) fixed(os, name, () => value);
  fixed(os, "tmpdir", sourceFolder);
  fixed(os, "homedir", sourceFolder);
  fixed(os, "userInfo", () => ({
    uid: 1000,
    gid: 1000,
    username: "component",
    homedir: sourceFolder(),
    shell: null,
  }));
}

/** What components see of the machine: always the same, and nothing of the real one. */
const MACHINE = {
  hostname: "sandbox",
  cpus: [],
  availableParallelism: 1,
  networkInterfaces: {},
  totalmem: 512 * 1024 * 1024,
  freemem: 256 * 1024 * 1024,
  release: "0",
  version: "0",
  uptime: 0,
  loadavg: [0, 0, 0],
};
