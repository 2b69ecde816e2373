import { splitList } from "../lib/lists.ts";
import { LIMITS } from "../limits/catalogue.ts";
import { type AnyQueue, isSharded } from "./define-queue.ts";
import { deletions } from "./deletions.ts";
import { deliveries } from "./deliveries.ts";
import { emissions } from "./emissions.ts";
import { runs } from "./runs.ts";
import { workflowEvents } from "./workflow-events.ts";

/**
 * Every queue: the platform opens these, the board and the metrics show them. A queue with a `concurrency` has a worker
 * of its own in workers/, an entry of `CONCURRENCY` and a line in the Procfile.
 */
export const allQueues: readonly AnyQueue[] = [runs, emissions, deliveries, deletions, workflowEvents];

/** The queues that workers of ours consume. */
export const consumedQueues = allQueues.filter(queue => queue.concurrency !== undefined);

const MOST = LIMITS.queueShards.value;
const NAMES: readonly string[] = allQueues.filter(isSharded).map(({ name }) => name);

/** Returns the numbers in `deliveries:4,runs:2`, by queue. Throws an error that says what is wrong. */
export function parseQueueShards(text: string): Record<string, number> {
  const numbers: Record<string, number> = {};
  for (const word of splitList(text)) {
    const [, name = "", number] = /^([a-z-]+):(\d{1,4})$/.exec(word) ?? [];
    if (!NAMES.includes(name) || Number(number) < 1 || Number(number) > MOST) {
      throw new Error(`must be such as deliveries:4,runs:2, with ${NAMES.join(", ")} and 1 to ${MOST}`);
    }
    if (numbers[name] !== undefined) throw new Error(`names ${name} twice`);
    numbers[name] = Number(number);
  }
  return numbers;
}
