import type { DevSource } from "./dev-source.ts";
import { type LoadedCode, loadCode, newWatchedPaths, type WatchedPaths } from "./load.ts";
import { type FileWatch, watchFiles } from "./watch-files.ts";

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
