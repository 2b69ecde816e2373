import type { promises } from "node:fs";
import { PACKAGE_FILES, sourceFolder } from "./source-folder.ts";

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
