import { type FSWatcher, watch } from "node:fs";
import { join, sep } from "node:path";
import { isUrl } from "../input.ts";
import { createRequestHandler, type HttpPort, openHttpPort } from "./http-port.ts";
import { type LoadedCode, loadCode, newWatchedPaths, type WatchedPaths } from "./load.ts";
import { type LocalServices, type LocalSettings, openLocalServices } from "./local-services.ts";
import { createPrinter } from "./print.ts";
import { type DevOptions, type DevSource, Session } from "./session.ts";
import { runByHand, startTicker, timerText } from "./ticker.ts";

/** The parts of the process around it that `dev` uses. */
export interface Terminal {
  output: Pick<NodeJS.WriteStream, "write" | "isTTY">;
  /** Calls back for each line typed. */
  onEnter(listener: () => void): void;
  /** Aborted by Ctrl-C. */
  ending: AbortSignal;
}

/**
 * Runs a component on this machine as a source would run, without stores: the same bundle, sandbox, hooks, dedupe,
 * timer and HTTP events. Ends when `ending` aborts, or after one run with `once`; deactivate is called at the end.
 * Throws AppError if the source can't be started, or if the one run failed.
 */
export async function dev(options: DevOptions, settings: LocalSettings, terminal: Terminal): Promise<void> {
  const services = await openLocalServices(settings, options.allow);
  const closers: (() => Promise<void>)[] = [() => services.close()];
  const work = runSource(options, settings, terminal, services, closers);
  const ended = new Promise<void>(resolve => {
    if (terminal.ending.aborted) resolve();
    terminal.ending.addEventListener("abort", () => resolve(), { once: true });
  });
  try {
    await Promise.race([work, ended]);
  } finally {
    // Closing makes work in progress fail, which must not be an unhandled rejection.
    work.catch(() => undefined);
    for (const close of closers.reverse()) await close();
  }
}

/** Never resolves without `once`. Adds to `closers` what must be closed, last first, at the end. */
async function runSource(
  options: DevOptions,
  settings: LocalSettings,
  terminal: Terminal,
  services: LocalServices,
  closers: (() => Promise<void>)[],
): Promise<void> {
  const printer = createPrinter(terminal.output);
  const watched = newWatchedPaths();
  const code = await loadCode(options, watched, services);
  if (terminal.ending.aborted) return;
  let port: HttpPort | undefined;
  const endpointUrl = () => port?.url ?? null;
  const { sandboxes } = services;
  const session = new Session({ sandboxes, printer, hookMs: settings.hookMs, endpointUrl });
  closers.push(() => session.stop());
  const source: DevSource = {
    code,
    session,
    printer,
    options,
    services,
    async openPort() {
      if (port) return;
      port = await openHttpPort(options.port, createRequestHandler(source, settings.httpResponseWaitMs));
      closers.push(port.close);
    },
  };
  if (code.hasHttp) await source.openPort();
  printer.say("loaded", describeSource(source, endpointUrl()));
  await session.start(code);
  if (options.once) return runByHand(source);
  const ticker = startTicker(source);
  closers.push(async () => ticker.stop());
  if (!isUrl(options.location)) {
    const watch = reloadOnSave(source, watched, () => {
      ticker.follow(source.code.timer);
      printer.say("reloaded", describeSource(source, endpointUrl()));
    });
    closers.push(async () => watch.close());
  }
  terminal.onEnter(() => {
    runByHand(source).catch((error: Error) => printer.say("rejected", error.message));
  });
  printer.say("ready", "press Enter to run it now, Ctrl-C to stop");
  return new Promise(() => {});
}

/** Returns `My source 1.0.0, every 15 s, http://127.0.0.1:4000`. */
function describeSource({ code }: DevSource, url: string | null): string {
  const { name, version } = code.description;
  const parts = [`${name} ${version}`];
  if (code.timer) parts.push(timerText(code.timer));
  if (code.hasHttp && url) parts.push(url);
  return parts.join(", ");
}

const isSame = (a: LoadedCode, b: LoadedCode): boolean =>
  a.bundle.hash === b.bundle.hash &&
  JSON.stringify([a.values, a.added]) === JSON.stringify([b.values, b.added]);

/**
 * Replaces the code between two runs, as an update does, whenever the component, a file that it imports or its props
 * are saved. New code that can't be loaded or activated is reported, and the old code stays.
 */
function reloadOnSave(source: DevSource, watched: WatchedPaths, onReloaded: () => void): FileWatch {
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
