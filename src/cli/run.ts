import type { Platform } from "../platform.ts";

/** Does a command's work on an opened platform and prints what it answers as JSON. */
export type Run = (work: (platform: Platform) => Promise<unknown>) => Promise<void>;
