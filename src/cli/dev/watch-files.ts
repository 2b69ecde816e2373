import { type FSWatcher, watch } from "node:fs";
import { join } from "node:path";
import type { Looked } from "./load.ts";

/** Saves come as several events, and some editors write a new file and rename it. */
const SETTLE_MS = 80;

export interface FileWatch {
  /** What counts from now on; with `anyFile` every change in the folders, because a file may be the missing one. */
  set(looked: Looked, options: { anyFile: boolean }): void;
  close(): void;
}

/** Tells of changed files, once things are still for a moment. Folders are watched, so that a renamed file counts. */
export function watchFiles(onChange: () => void): FileWatch {
  const watchers = new Map<string, FSWatcher>();
  let files: ReadonlySet<string> = new Set();
  let isAny = false;
  let settling: NodeJS.Timeout | undefined;

  function seen(path: string): void {
    if (!isAny && !files.has(path)) return;
    clearTimeout(settling);
    settling = setTimeout(onChange, SETTLE_MS);
  }

  function open(folder: string): void {
    try {
      const watcher = watch(folder, (_, name) => seen(join(folder, String(name))));
      watchers.set(folder, watcher);
      // A folder that is taken away; it is looked for again with the next set.
      watcher.on("error", () => shut(folder));
    } catch {
      // Not there (yet): an import may name a folder that does not exist.
    }
  }

  function shut(folder: string): void {
    watchers.get(folder)?.close();
    watchers.delete(folder);
  }

  return {
    set(looked, { anyFile }) {
      files = looked.files;
      isAny = anyFile;
      for (const folder of watchers.keys()) if (!looked.folders.has(folder)) shut(folder);
      for (const folder of looked.folders) if (!watchers.has(folder)) open(folder);
    },
    close() {
      clearTimeout(settling);
      for (const folder of [...watchers.keys()]) shut(folder);
    },
  };
}
