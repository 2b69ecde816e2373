import type { Platform } from "../platform.ts";

/** Opens a platform, does work with it, and closes it. */
export type WithPlatform = <T>(work: (platform: Platform) => Promise<T>) => Promise<T>;

/** As `WithPlatform`, and prints the result as JSON. */
export type Run = (work: (platform: Platform) => Promise<unknown>) => Promise<void>;

/** Returns a signal that aborts when the process is told to end, by Ctrl-C or otherwise: what it does then ends well. */
export function stopSignal(): AbortSignal {
  const controller = new AbortController();
  // Once: a second Ctrl-C ends a process that hangs.
  for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => controller.abort());
  return controller.signal;
}
