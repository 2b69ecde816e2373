import type { Queued, Stores } from "../platform.ts";
import { openedQueue, type QueueDeclaration } from "../queues/define-queue.ts";
import { deliveries } from "../queues/deliveries.ts";
import { runs } from "../queues/runs.ts";
import { shardsOf } from "../queues/shards.ts";
import { mastersOf } from "../store/connections/redis.ts";

/** Each part reads something of the others' share: of an index, or of a scan. */
const MAX_PARTS = 8;

/**
 * Returns into how many parts a step is divided now: as many as its queue has shards, up to eight, or Redis masters. The
 * others are short by nature, or keep an order (docs/decisions/0020-sweeps.md).
 */
export function countParts(platform: Stores & Queued, step: StepName): number {
  const shards = (queue: QueueDeclaration) => shardsOf(openedQueue(platform.queues, queue)).length;
  switch (step) {
    case "run_queues":
    case "settled":
    case "timers":
    case "schedulers":
      return Math.min(shards(runs), MAX_PARTS);
    case "deliveries":
      return Math.min(shards(deliveries), MAX_PARTS);
    case "silent_emitters":
      // None is known while a cluster can't be reached.
      return Math.max(1, mastersOf(platform.redis).length);
    default:
      return 1;
  }
}

/** The steps of the reconciler, as metrics and items that are set aside name them. */
export const STEP_NAMES = [
  "run_queues",
  "outboxes",
  "settled",
  "dispatches",
  "deliveries",
  "timers",
  "schedulers",
  "deleting",
  "deploying",
  "changes",
  "replays",
  "recoveries",
  "accepted",
  "silent_emitters",
  "failovers",
  "functions",
  "alerts",
  "issues",
  "mcp_subscriptions",
] as const;
export type StepName = (typeof STEP_NAMES)[number];
