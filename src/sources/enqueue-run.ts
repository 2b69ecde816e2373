import { AppError } from "../errors.ts";
import type { Platform } from "../platform.ts";
import { enqueue } from "../queues/define-queue.ts";
import { runs } from "../queues/runs.ts";
import type { LineItem } from "./line-item.ts";

/** Runs that may wait for one source before its endpoint refuses more; keeps a flood from filling Redis. */
const LONGEST_LINE = 10_000;

/**
 * Puts a run at the end of its source's line (a change at its front) and wakes a worker. When this returns, the run
 * is accepted. Throws `unavailable` when Redis is away, `rate-limited` when the line of an HTTP source is full.
 */
export async function enqueueRun(
  platform: Pick<Platform, "runLine" | "queues">,
  sourceId: string,
  item: LineItem,
): Promise<void> {
  const where = item.kind === "change" ? "front" : "back";
  const longest = item.kind === "http" ? LONGEST_LINE : 0;
  const pushed = await push(platform, sourceId, JSON.stringify(item), where, longest);
  if (pushed === "full") {
    throw new AppError("rate-limited", "too many requests wait for this source", { retryAfterMs: 5000 });
  }
  if (pushed === "wake") await wake(platform, sourceId);
}

async function push(
  platform: Pick<Platform, "runLine">,
  ...args: Parameters<Platform["runLine"]["push"]>
): ReturnType<Platform["runLine"]["push"]> {
  try {
    return await platform.runLine.push(...args);
  } catch (error) {
    throw new AppError("unavailable", "the queue can't be reached", { cause: error, retryAfterMs: 1000 });
  }
}

/** Asks the workers to look at a source's line. */
export async function wake(platform: Pick<Platform, "queues">, sourceId: string): Promise<void> {
  await enqueue(platform.queues, runs, { kind: "wake", source_id: sourceId });
}
