import type { promises } from "node:fs";
import process from "node:process";

type Call = (...args: unknown[]) => unknown;

/** The functions whose second argument is a path as well. */
const TWO_PATHS = /^(rename|copyFile|cp|link|symlink)(Sync)?$/;

/** Components are used to `/tmp` being theirs: such paths mean the private folder, the only one they can reach. */
export function privateFiles(directory: string): void {
  const inside = (path: unknown) => {
    if (typeof path !== "string" || path.startsWith(directory)) return path;
    if (path === "/tmp") return directory;
    return path.startsWith("/tmp/") ? `${directory}/${path.slice(5)}` : path;
  };
  // Not imported: an import would go through the map of `prelude`, which fixes the names before they are changed.
  const fs = process.getBuiltinModule("node:fs") as unknown as Record<string, unknown> & {
    promises: typeof promises;
  };
  for (const target of [fs, fs.promises as unknown as Record<string, unknown>]) {
    for (const [name, original] of Object.entries(target)) {
      if (typeof original !== "function" || /^[A-Z_]/.test(name)) continue;
      const replaced: Call = (path, ...rest) => {
        if (TWO_PATHS.test(name) && rest.length > 0) rest[0] = inside(rest[0]);
        return (original as Call).call(target, inside(path), ...rest);
      };
      Object.defineProperty(replaced, "name", { value: name });
      target[name] = Object.assign(replaced, original);
    }
  }
}
