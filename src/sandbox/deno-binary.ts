import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const require = createRequire(import.meta.url);

/**
 * Returns the path of the deno binary that the npm package `deno` installs for this machine; throws if there is none.
 * The package's launcher is not used, because it would be one more process between the worker and its signals.
 */
export function findDeno(): string {
  const { platform, arch } = process;
  const file = platform === "win32" ? "deno.exe" : "deno";
  const packages =
    platform === "linux"
      ? [`@deno/linux-${arch}-glibc`, `@deno/linux-${arch}-musl`]
      : [`@deno/${platform}-${arch}`];
  for (const name of packages) {
    try {
      const path = join(dirname(require.resolve(`${name}/package.json`)), file);
      if (existsSync(path)) return path;
    } catch {
      // The package is for another libc and not installed here.
    }
  }
  throw new Error(`no deno for ${platform} ${arch}: is the npm package "deno" installed?`);
}
