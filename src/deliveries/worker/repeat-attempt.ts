import { setTimeout as delay } from "node:timers/promises";
import { Deliveries, type Delivery } from "../../models/delivery.ts";
import type { Platform } from "../../platform.ts";
import { enqueue } from "../../queues/define-queue.ts";
import { deliveries, type NextAttempt } from "../../queues/deliveries.ts";
import { Snooze } from "../../queues/snooze.ts";

type Deps = Pick<Platform, "mongo" | "queues" | "config" | "clock">;

/** A store that is away is tried again after this. Milliseconds. */
const AGAIN_MS = 1000;
/** Later, the sweep looks at the delivery by itself. Milliseconds. */
const GIVE_UP_MS = 60_000;

interface Repeated {
  /** Pending; as it was when the attempt began. */
  delivery: Pick<Delivery, "_id" | "generation">;
  job: NextAttempt;
  /** What the attempt failed with; a Snooze says how much later it is to be made. */
  error: unknown;
  /** Aborted when the worker stops: then there is one more try. */
  signal: AbortSignal;
}

/**
 * Has a job of its own repeat an attempt that failed, by a fault of ours, after the job that made it was over. The delivery was
 * left to a sweep after the attempt's longest time (docs/design.md#guarantee-5); it is left to the next one again, in case the
 * new job is lost. Tries again while a store is away. Never throws.
 */
export async function repeatAttempt(
  platform: Deps,
  { delivery: { _id, generation }, job, error, signal }: Repeated,
): Promise<void> {
  const delayMs = error instanceof Snooze ? error.delayMs : 0;
  const givesUpAt = performance.now() + GIVE_UP_MS;
  do {
    try {
      const sweep_at_ms = platform.clock() + delayMs + platform.config.sweepEveryMs;
      await Deliveries(platform.mongo).updateOne(
        // If the attempt was recorded after all, this is another generation, and the job superseded.
        { _id, state: "pending", generation },
        { $set: { sweep_at_ms }, $unset: { first_attempt_until_ms: 1 } },
      );
      await enqueue(platform.queues, deliveries.jobs["next-attempt"], job, { delayMs });
      return;
    } catch {
      await delay(AGAIN_MS, undefined, { signal }).catch(() => undefined);
    }
  } while (!signal.aborted && performance.now() < givesUpAt);
}
