import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";

export interface FolderLimit {
  maxBytes: number;
  /** Files and folders. */
  maxEntries: number;
}

/** True when what lies under `path` is more than the limit; it stops counting there. */
export async function exceedsLimit(path: string, limit: FolderLimit): Promise<boolean> {
  let bytes = 0;
  let entries = 0;
  const folders = [path];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const list = await readdir(folder, { withFileTypes: true }).catch(() => []);
    entries += list.length;
    if (entries > limit.maxEntries) return true;
    for (const entry of list) {
      const inside = join(folder, entry.name);
      if (entry.isDirectory()) folders.push(inside);
      // Blocks, not length: a sparse file takes no room.
      else
        bytes += await lstat(inside).then(
          found => found.blocks * 512,
          () => 0,
        );
      if (bytes > limit.maxBytes) return true;
    }
  }
  return false;
}
