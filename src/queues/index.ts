import type { AnyQueue } from "./define-queue.ts";
import { deletions } from "./deletions.ts";
import { deliveries } from "./deliveries.ts";
import { emissions } from "./emissions.ts";
import { runs } from "./runs.ts";
import { workflowEvents } from "./workflow-events.ts";

/**
 * Every queue: the platform opens these, the board and the metrics show them. A queue with a `concurrency` has a worker
 * of its own in workers/, a setting `<NAME>_CONCURRENCY` and a line in the Procfile.
 */
export const allQueues: readonly AnyQueue[] = [runs, emissions, deliveries, deletions, workflowEvents];

/** The queues that workers of ours consume. */
export const consumedQueues = allQueues.filter(queue => queue.concurrency !== undefined);
