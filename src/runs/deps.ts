import type { Platform } from "../platform.ts";

/** What the execution of runs needs of the platform. */
export type RunDeps = Pick<
  Platform,
  | "mongo"
  | "redis"
  | "keys"
  | "queues"
  | "eventLog"
  | "routing"
  | "runQueue"
  | "secrets"
  | "metrics"
  | "activity"
  | "config"
  | "clock"
  | "memory"
  | "log"
  | "sandboxes"
>;

/** Ids and results for log lines. */
export type LogFields = Record<string, unknown>;
