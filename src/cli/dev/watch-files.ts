import { type FSWatcher, watch } from "node:fs";
import { join } from "node:path";
import type { WatchedPaths } from "./load.ts";

/** One save causes several events, and some editors write a new file and rename it: changes count after this pause. */
const QUIET_MS = 80;

export interface FileWatch {
  /**
   * Watches these files from now on. With `anyFile` every file in the folders counts, because the changed file may be
   * one that was missing.
   */
  set(paths: WatchedPaths, options: { anyFile: boolean }): void;
  close(): void;
}

/** Calls `onChange` after files have changed. Folders are watched, so that renaming a file to a watched path counts. */
export function watchFiles(onChange: () => void): FileWatch {
  const watchers = new Map<string, FSWatcher>();
  let files: ReadonlySet<string> = new Set();
  let isAnyFile = false;
  let quietTimer: NodeJS.Timeout | undefined;

  function onEvent(path: string): void {
    if (!isAnyFile && !files.has(path)) return;
    clearTimeout(quietTimer);
    quietTimer = setTimeout(onChange, QUIET_MS);
  }

  function startWatching(folder: string): void {
    try {
      const watcher = watch(folder, (_, name) => onEvent(join(folder, String(name))));
      watchers.set(folder, watcher);
      // The folder was deleted; the next `set` tries again.
      watcher.on("error", () => stopWatching(folder));
    } catch {
      // An import may name a folder that does not exist (yet).
    }
  }

  function stopWatching(folder: string): void {
    watchers.get(folder)?.close();
    watchers.delete(folder);
  }

  return {
    set(paths, { anyFile }) {
      files = paths.files;
      isAnyFile = anyFile;
      for (const folder of watchers.keys()) if (!paths.folders.has(folder)) stopWatching(folder);
      for (const folder of paths.folders) if (!watchers.has(folder)) startWatching(folder);
    },
    close() {
      clearTimeout(quietTimer);
      for (const folder of [...watchers.keys()]) stopWatching(folder);
    },
  };
}
