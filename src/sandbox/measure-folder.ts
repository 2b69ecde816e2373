import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";

export interface FolderLimit {
  maxBytes: number;
  /** Number of files and folders. */
  maxEntries: number;
}

/** Returns true if the files and folders below these exceed the limit. It stops counting as soon as they do. */
export async function exceedsLimit(paths: string | readonly string[], limit: FolderLimit): Promise<boolean> {
  let bytes = 0;
  let entries = 0;
  const folders = [paths].flat();
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const list = await readdir(folder, { withFileTypes: true }).catch(() => []);
    entries += list.length;
    if (entries > limit.maxEntries) return true;
    for (const entry of list) {
      const inside = join(folder, entry.name);
      if (entry.isDirectory()) folders.push(inside);
      else bytes += await usedBytes(inside);
      if (bytes > limit.maxBytes) return true;
    }
  }
  return false;
}

/** Returns the bytes that the files below `path` use on disk; 0 if there is no such folder. */
export async function folderBytes(path: string): Promise<number> {
  let bytes = 0;
  const folders = [path];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
      const inside = join(folder, entry.name);
      if (entry.isDirectory()) folders.push(inside);
      else bytes += await usedBytes(inside);
    }
  }
  return bytes;
}

/** Counts blocks instead of the length, because a sparse file uses no disk space. */
function usedBytes(path: string): Promise<number> {
  return lstat(path).then(
    found => found.blocks * 512,
    () => 0,
  );
}
