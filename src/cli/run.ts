import type { Platform } from "../platform.ts";

/** Does work on a platform that is opened for it and closed after it. */
export type WithPlatform = <T>(work: (platform: Platform) => Promise<T>) => Promise<T>;

/** Does a command's work on an opened platform and prints what it answers as JSON. */
export type Run = (work: (platform: Platform) => Promise<unknown>) => Promise<void>;
