import { readdir } from "node:fs/promises";
import { join, posix } from "node:path";

/**
 * Returns the paths of a package's own files, in the folder of the packages: without those of the packages inside of it, and
 * without links.
 *
 * @param root the package's folder, in the folder of the packages
 */
export async function filesOfPackage(folder: string, root: string): Promise<string[]> {
  const entries = await readdir(join(folder, root), { withFileTypes: true });
  const found = entries.map(async entry => {
    const inside = posix.join(root, entry.name);
    if (entry.isDirectory()) return entry.name === "node_modules" ? [] : filesOfPackage(folder, inside);
    return entry.isFile() ? [inside] : [];
  });
  return (await Promise.all(found)).flat();
}
