import type { Platform } from "../platform.ts";

/** Opens a platform, does work with it, and closes it. */
export type WithPlatform = <T>(work: (platform: Platform) => Promise<T>) => Promise<T>;

/** As `WithPlatform`, and prints the result as JSON. */
export type Run = (work: (platform: Platform) => Promise<unknown>) => Promise<void>;
