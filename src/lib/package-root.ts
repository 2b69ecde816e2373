import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Returns this folder, or the nearest one above it, that has a package.json. */
function packageFolder(folder: string): string {
  const above = dirname(folder);
  return existsSync(join(folder, "package.json")) || above === folder ? folder : packageFolder(above);
}

/**
 * The folder of the project, or of the installed package, with a slash at its end: sources, dist/ and the bundle of @headwater/cli
 * are at different depths in it.
 */
export const packageRoot = join(packageFolder(dirname(fileURLToPath(import.meta.url))), "/");
