import { realpathSync } from "node:fs";
import { fileURLToPath } from "node:url";

/**
 * Returns true for the module that the process was started with: an imported one must not start a server or a worker. A folder of
 * releases is often reached by a link, such as `current`, so the path that was given need not be the module's own.
 */
export function isEntry(moduleUrl: string): boolean {
  const [, script] = process.argv;
  return script !== undefined && realpathSync(script) === fileURLToPath(moduleUrl);
}
