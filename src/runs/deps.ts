import type { Platform } from "../platform.ts";

/** What working off a source's line needs. */
export type RunPlatform = Pick<
  Platform,
  | "mongo"
  | "redis"
  | "keys"
  | "queues"
  | "eventLog"
  | "directory"
  | "runLine"
  | "secrets"
  | "counters"
  | "config"
  | "clock"
  | "log"
  | "sandboxes"
>;
