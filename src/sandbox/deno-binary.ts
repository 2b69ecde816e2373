import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const require = createRequire(import.meta.url);

/**
 * Path of the deno that the npm package `deno` brings for this machine. The package's own launcher is passed by: it
 * would be one more process between us and the signals we send.
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
      // The package of another platform: not installed here.
    }
  }
  throw new Error(`no deno for ${platform} ${arch}: is the npm package "deno" installed?`);
}
