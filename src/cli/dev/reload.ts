import { type FSWatcher, watch } from "node:fs";
import { join, sep } from "node:path";
import { type LoadedCode, loadCode, newWatchedPaths, type WatchedPaths } from "./load.ts";
import type { DevSource } from "./session.ts";

const isSame = (a: LoadedCode, b: LoadedCode): boolean =>
  a.bundle.hash === b.bundle.hash &&
  JSON.stringify([a.values, a.added]) === JSON.stringify([b.values, b.added]);

/**
 * Replaces the code between two runs, as an update does, whenever the component, a file that it imports or its props
 * are saved. New code that can't be loaded or activated is reported, and the old code stays.
 */
export function reloadOnSave(source: DevSource, watched: WatchedPaths, onReloaded: () => void): FileWatch {
  const { session, printer, options, services } = source;
  const reportRejected = (reason: string) => printer.say("rejected", `${reason}; the old code stays`);

  async function reload(): Promise<void> {
    const nextWatched = newWatchedPaths();
    try {
      const next = await loadCode(options, nextWatched, services);
      watch.set(nextWatched);
      if (isSame(next, source.code)) return;
      if (next.hasHttp) await source.openPort();
      const error = await session.replace(next);
      if (error) return reportRejected("its activate hook failed");
      source.code = next;
      onReloaded();
    } catch (error) {
      watch.set(nextWatched);
      reportRejected((error as Error).message);
    }
  }

  // One after the other: a save during a reload is loaded after it.
  let lastReload = Promise.resolve();
  const watch = watchFiles(() => {
    lastReload = lastReload.then(reload);
  });
  watch.set(watched);
  return watch;
}

/** One save causes several events, and some editors write a new file and rename it: changes count after this pause. */
const QUIET_MS = 80;

interface FileWatch {
  /** Watches these files from now on, and those that would be one of the missing. */
  set(paths: WatchedPaths): void;
  close(): void;
}

/** Calls `onChange` after files have changed. Folders are watched, so that renaming a file to a watched path counts. */
function watchFiles(onChange: () => void): FileWatch {
  const watchers = new Map<string, FSWatcher>();
  let watched: WatchedPaths | undefined;
  let quietTimer: NodeJS.Timeout | undefined;

  function onEvent(path: string): void {
    // No other file of the folder counts: the output of this command or of a build may be there.
    if (!watched?.files.has(path) && !isMissing(path)) return;
    clearTimeout(quietTimer);
    quietTimer = setTimeout(onChange, QUIET_MS);
  }

  /** An import names a file without its extension, or its folder. */
  const isMissing = (path: string) =>
    [...(watched?.missing ?? [])].some(
      missing => path === missing || path.startsWith(`${missing}.`) || path.startsWith(missing + sep),
    );

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
    set(paths) {
      watched = paths;
      for (const folder of watchers.keys()) if (!paths.folders.has(folder)) stopWatching(folder);
      for (const folder of paths.folders) if (!watchers.has(folder)) startWatching(folder);
    },
    close() {
      clearTimeout(quietTimer);
      for (const folder of [...watchers.keys()]) stopWatching(folder);
    },
  };
}
