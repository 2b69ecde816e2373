import type { promises } from "node:fs";
import { Readable } from "node:stream";
import { PACKAGE_FILES, sourceFolder } from "./source-folder.ts";

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

type Call = (...args: unknown[]) => unknown;

/** The functions whose second argument is also a path. */
const TWO_PATHS = /^(rename|copyFile|cp|link|symlink)(Sync)?$/;

/**
 * Redirects paths in `/tmp`, which components expect to be writable, to the source's folder in the private folder, the only
 * writable one. Paths are texts or URLs.
 */
export function redirectTmp(privateFolder: string): void {
  const redirect = (given: unknown) => {
    const path =
      given instanceof URL && given.protocol === "file:" ? decodeURIComponent(given.pathname) : given;
    if (typeof path !== "string" || path.startsWith(privateFolder)) return given;
    if (path === "/tmp") return sourceFolder();
    if (path === PACKAGE_FILES || path.startsWith(`${PACKAGE_FILES}/`)) return privateFolder + path.slice(4);
    return path.startsWith("/tmp/") ? `${sourceFolder()}/${path.slice(5)}` : given;
  };
  // Not imported: the import map redirects imports to a module that would read the functions before they are replaced.
  const fs = process.getBuiltinModule("node:fs") as unknown as Record<string, unknown> & {
    promises: typeof promises;
  };
  for (const target of [fs, fs.promises as unknown as Record<string, unknown>]) {
    for (const [name, original] of Object.entries(target)) {
      if (typeof original !== "function" || /^[A-Z_]/.test(name)) continue;
      const call: Call = (path, ...rest) => {
        if (TWO_PATHS.test(name) && rest.length > 0) rest[0] = redirect(rest[0]);
        return (original as Call).call(target, redirect(path), ...rest);
      };
      const replaced = withNodeErrors(name, call);
      Object.defineProperty(replaced, "name", { value: name });
      target[name] = Object.assign(replaced, original);
    }
  }
}

/**
 * Returns the function with Node's error for a path that the process has no access to, in place of deno's, which libraries don't
 * expect: they look for files that say what system it is.
 */
function withNodeErrors(name: string, call: Call): Call {
  const asNode = (error: unknown, path: unknown): unknown =>
    error instanceof Error && error.name === "NotCapable" ? denied(name.replace(/Sync$/, ""), path) : error;
  return (path, ...rest) => {
    const last = rest.at(-1);
    if (typeof last === "function" && name !== "exists") {
      rest[rest.length - 1] = (error: unknown, ...results: unknown[]) =>
        last(asNode(error, path), ...results);
    }
    try {
      const result = call(path, ...rest);
      return result instanceof Promise
        ? result.catch((error: unknown) => {
            throw asNode(error, path);
          })
        : result;
    } catch (error) {
      if (name === "existsSync") return false;
      throw asNode(error, path);
    }
  };
}

function denied(syscall: string, path: unknown): Error {
  const error = new Error(`EACCES: permission denied, ${syscall} '${String(path)}'`);
  return Object.assign(error, { code: "EACCES", errno: -13, syscall, path: String(path) });
}
