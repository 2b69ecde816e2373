import type { Platform } from "../../platform.ts";

/** What the deliveries worker needs of the platform. */
export type DeliveryDeps = Pick<
  Platform,
  | "mongo"
  | "redis"
  | "keys"
  | "queues"
  | "routing"
  | "permits"
  | "metrics"
  | "tracer"
  | "activity"
  | "egress"
  | "sandboxes"
  | "lastingConnections"
  | "secrets"
  | "config"
  | "clock"
  | "log"
>;

/** Ids and results for log lines. Never a URL, which may hold a secret, nor a header. */
export type LogFields = Record<string, unknown>;
