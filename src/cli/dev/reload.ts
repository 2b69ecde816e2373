import type { Live } from "./live.ts";
import { type LoadedCode, type Looked, loadCode, lookedAtNothing } from "./load.ts";
import { type FileWatch, watchFiles } from "./watch-files.ts";

const isSame = (a: LoadedCode, b: LoadedCode): boolean =>
  a.bundle.hash === b.bundle.hash && JSON.stringify(a.values) === JSON.stringify(b.values);

/**
 * Takes a save of the component, of a file it imports or of its props over, as an update does: old code off, new code
 * on, between two runs. What is broken, or refuses, is told, and the code before goes on.
 */
export function reloadOnSave(source: Live, looked: Looked, onReloaded: () => void): FileWatch {
  const { session, printer, options, local } = source;
  const refuse = (why: string) => printer.say("refused", `${why}; the code before goes on`);

  async function reload(): Promise<void> {
    const seen = lookedAtNothing();
    try {
      const next = await loadCode(options, seen, local);
      watch.set(seen, { anyFile: false });
      if (isSame(next, source.code)) return;
      if (next.hasHttp) await source.openPort();
      const error = await session.replace(next);
      if (error) return refuse("its activate hook failed");
      source.code = next;
      onReloaded();
    } catch (error) {
      watch.set(seen, { anyFile: true });
      refuse((error as Error).message);
    }
  }

  // One after the other: what is saved during a reload is loaded after it.
  let last = Promise.resolve();
  const watch = watchFiles(() => {
    last = last.then(reload);
  });
  watch.set(looked, { anyFile: false });
  return watch;
}
