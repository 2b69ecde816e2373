import type { QueueDeclaration } from "./define-queue.ts";
import { deletions } from "./deletions.ts";
import { deliveries } from "./deliveries.ts";
import { emissions } from "./emissions.ts";
import { runs } from "./runs.ts";
import { workflowEvents } from "./workflow-events.ts";

/** Every queue there is; the platform opens these, the board and the metrics show them. */
export const allQueues: readonly QueueDeclaration[] = [
  runs,
  emissions,
  deliveries,
  deletions,
  workflowEvents,
];
