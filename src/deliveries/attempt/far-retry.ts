import { LIMITS } from "../../limits/catalogue.ts";
import type { Delivery } from "../../models/delivery.ts";

/**
 * Whether a retry is so far away that it gets no job: thousands of failing deliveries would fill Redis for hours. It waits
 * in MongoDB, and the sweep enqueues it once it is due (docs/decisions/0006-deliveries.md).
 */
export const isFarRetry = (delayMs: number): boolean => delayMs > LIMITS.retryJobMs.value;

/** Whether a delivery waits for its retry without a job. What has a job is looked at by the sweep only later than due. */
export const waitsWithoutJob = ({
  next_attempt_at_ms,
  sweep_at_ms,
}: Pick<Delivery, "next_attempt_at_ms" | "sweep_at_ms">): boolean =>
  next_attempt_at_ms !== null && next_attempt_at_ms === sweep_at_ms;
