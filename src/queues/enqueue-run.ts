import { AppError } from "../lib/errors.ts";
import { failpoint } from "../lib/failpoint.ts";
import type { Pushed, RunLine } from "../store/run-queue.ts";
import { enqueue, type Queues } from "./define-queue.ts";
import type { LineItem } from "./run-item.ts";
import { runs } from "./runs.ts";

interface LinePlatform {
  runLine: RunLine;
  queues: Queues;
}

/** Runs that may wait for one source before its endpoint refuses more; keeps a flood from filling Redis. */
const LONGEST_LINE = 10_000;

/**
 * Puts a run at the end of its source's line, a change before all runs, and wakes a worker. When this returns, the run
 * is accepted. Throws `unavailable` when Redis is away, `rate-limited` when the line of an HTTP source is full.
 */
export async function enqueueRun(platform: LinePlatform, sourceId: string, item: LineItem): Promise<void> {
  const [accepted] = await enqueueRuns(platform, sourceId, [item]);
  if (!accepted) throw lineIsFull();
}

/** As `enqueueRun`, for many of one source; tells of each whether it was accepted, or found the line full. */
export async function enqueueRuns(
  platform: LinePlatform,
  sourceId: string,
  items: LineItem[],
): Promise<boolean[]> {
  const pushed = await push(platform, sourceId, items);
  failpoint("runs-pushed");
  if (pushed.includes("wake")) await wake(platform, sourceId);
  return pushed.map(one => one !== "full");
}

/** What an endpoint answers whose source has too much to do. */
export const lineIsFull = () =>
  new AppError("rate-limited", "too many requests wait for this source", { retryAfterMs: 5000 });

async function push(platform: LinePlatform, sourceId: string, items: LineItem[]): Promise<Pushed[]> {
  const [first] = items;
  const texts = items.map(item => JSON.stringify(item));
  const longest = first?.kind === "http" ? LONGEST_LINE : 0;
  try {
    if (first?.kind === "change") return [await platform.runLine.pushChange(sourceId, texts[0] ?? "")];
    return await platform.runLine.push(sourceId, texts, longest);
  } catch (error) {
    throw new AppError("unavailable", "the queue can't be reached", { cause: error, retryAfterMs: 1000 });
  }
}

/** Asks the workers to look at a source's line. */
export async function wake(platform: Pick<LinePlatform, "queues">, sourceId: string): Promise<void> {
  await enqueue(platform.queues, runs, { kind: "wake", source_id: sourceId });
}
