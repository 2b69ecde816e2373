import { createRequire } from "node:module";

/** Something that is opened at its first use and then kept. */
export interface OpenedOnce<T> {
  /** Opens it, or returns what is open. A failure is forgotten, so that the next use tries again. */
  get(): Promise<T>;
  /** Returns what is open or being opened; undefined if it has not been used, or could not be opened. */
  current(): Promise<T> | undefined;
}

/** Returns `open` as something that is opened at most once, however many callers use it at once. */
export function openOnce<T>(open: () => Promise<T>): OpenedOnce<T> {
  let opened: Promise<T> | undefined;
  return {
    get() {
      if (opened) return opened;
      const opening = open();
      opened = opening;
      opening.catch(() => {
        if (opened === opening) opened = undefined;
      });
      return opening;
    },
    current: () => opened,
  };
}

/**
 * Returns `open` as a function that opens one thing for each object, at its first use, and keeps it for as long as the object
 * lives. `keyOf` says which object that is, where `open` takes more than it needs.
 */
export function openPer<From extends object, T>(
  open: (from: From) => T,
  keyOf: (from: From) => object = from => from,
): (from: From) => T {
  const opened = new WeakMap<object, { thing: T }>();
  return from => {
    const key = keyOf(from);
    let kept = opened.get(key);
    if (!kept) {
      kept = { thing: open(from) };
      opened.set(key, kept);
    }
    return kept.thing;
  };
}

/**
 * Returns a function that calls `load` at most once at a time, and keeps its result for `ms` milliseconds after it
 * arrived. A rejection is not kept.
 */
export function cachedFor<T>(
  ms: number,
  load: () => Promise<T>,
  now: () => number = () => performance.now(),
): () => Promise<T> {
  let kept: { result: Promise<T>; untilMs: number } | undefined;
  return () => {
    if (kept && now() < kept.untilMs) return kept.result;
    const entry = { result: load(), untilMs: Number.POSITIVE_INFINITY };
    kept = entry;
    entry.result.then(
      () => {
        entry.untilMs = now() + ms;
      },
      () => {
        kept = undefined;
      },
    );
    return entry.result;
  };
}

/**
 * Returns a function that loads a CommonJS package at its first call, for packages that most processes never use. `from`
 * is the `import.meta.url` of the caller. Throws Node's error, which names the package. Not with `import()`: Node keeps
 * its failures until the process ends, also those of a moment without file descriptors; this one is tried again.
 */
export function loadLater<T>(name: string, from: string): () => T {
  const require = createRequire(from);
  return () => require(name) as T;
}
