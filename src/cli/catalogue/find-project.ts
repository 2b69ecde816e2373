import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";

/** As far up as a package.json of a component is looked for (docs/component-api.md#imports). */
const MOST_FOLDERS = 12;

/**
 * Returns the folder that a folder's components may import files of: the checkout that it is in, else the npm package, else the
 * folder itself. It is never a home folder or the root.
 */
export function findProject(folder: string): string {
  const above = foldersFrom(folder);
  const has = (name: string) => above.find(one => existsSync(join(one, name)));
  return has(".git") ?? has("package.json") ?? folder;
}

function foldersFrom(folder: string): string[] {
  const folders: string[] = [];
  const home = homedir();
  for (let one = folder; folders.length < MOST_FOLDERS; one = dirname(one)) {
    if (one === home || one === dirname(one)) break;
    folders.push(one);
  }
  return folders;
}
