import { splitList } from "../lib/lists.ts";
import { LIMITS } from "../limits/catalogue.ts";
import { isSharded } from "./define-queue.ts";
import { allQueues } from "./index.ts";

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
