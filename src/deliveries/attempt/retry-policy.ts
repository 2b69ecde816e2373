import type { EndReason } from "../../models/delivery.ts";
import { nextDelayMs, parseRetryAfter, type Wait } from "./schedule.ts";
import type { Answer } from "./send.ts";

/** What an attempt means for its delivery. */
export type Outcome =
  | { kind: "delivered" }
  | { kind: "retry"; delayMs: number }
  | { kind: "failed"; reason: Extract<EndReason, "gone" | "exhausted"> };

export type RetryRules = Pick<Wait, "scheduleMs" | "step" | "busyFloorMs" | "random"> & { nowMs: number };

/** The retry table (design.md, "Delivery to a webhook"). Pure. */
export function outcomeOf(answer: Answer, { nowMs, ...rules }: RetryRules): Outcome {
  const { status } = answer;
  if (status !== null && status >= 200 && status < 300) return { kind: "delivered" };
  if (status === 410) return { kind: "failed", reason: "gone" };
  const delayMs = nextDelayMs({
    ...rules,
    retryAfterMs: parseRetryAfter(answer.retryAfter, nowMs),
    busy: status === 429 || answer.timedOut,
  });
  return delayMs === null ? { kind: "failed", reason: "exhausted" } : { kind: "retry", delayMs };
}
