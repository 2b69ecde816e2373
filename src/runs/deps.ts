import type { Platform } from "../platform.ts";
import type { LateRecords } from "./late-records.ts";

/** What the execution of runs needs of the platform. */
export type RunDeps = Pick<
  Platform,
  | "mongo"
  | "redis"
  | "redisSince"
  | "keys"
  | "queues"
  | "eventLog"
  | "routing"
  | "runQueue"
  | "replicas"
  | "secrets"
  | "metrics"
  | "tracer"
  | "activity"
  | "config"
  | "clock"
  | "memory"
  | "log"
  | "sandboxes"
  | "egress"
> & {
  /** Absent: every run is recorded before it is acknowledged. */
  late?: LateRecords | undefined;
};

/** Ids and results for log lines. */
export type LogFields = Record<string, unknown>;
