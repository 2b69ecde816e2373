import type { promises } from "node:fs";
import process from "node:process";
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
      const replaced: Call = (path, ...rest) => {
        if (TWO_PATHS.test(name) && rest.length > 0) rest[0] = redirect(rest[0]);
        return (original as Call).call(target, redirect(path), ...rest);
      };
      Object.defineProperty(replaced, "name", { value: name });
      target[name] = Object.assign(replaced, original);
    }
  }
}
