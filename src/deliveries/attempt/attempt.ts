import type { Webhook } from "../../models/webhook.ts";
import type { Platform } from "../../platform.ts";
import { disableGone, noteFailure, noteSuccess } from "../../webhooks/health.ts";
import { type Outcome, outcomeOf } from "./retry-policy.ts";
import { BUSY_FLOOR_MS, scheduleOf } from "./schedule.ts";
import { type Answer, deliver, type Message } from "./send.ts";

export type AttemptPlatform = Pick<
  Platform,
  "mongo" | "directory" | "counters" | "egress" | "secrets" | "config" | "clock"
>;

export interface RetryOptions {
  /** Milliseconds that 429s and time-outs wait at least. */
  busyFloorMs?: number;
  random?: () => number;
}

/** One attempt and what follows from it; not recorded yet. */
export interface MadeAttempt {
  number: number;
  startedAtMs: number;
  answer: Answer;
  outcome: Outcome;
  /** When the answer was there. */
  nowMs: number;
}

/**
 * Sends a message to its webhook, tells what follows by the retry table, and notes it with the webhook's health.
 * `step` counts the attempts since the schedule began, this one not included. Throws `unavailable` when `signal` ends it.
 */
export async function makeAttempt(
  platform: AttemptPlatform,
  { webhook, message, step }: { webhook: Webhook; message: Message; step: number },
  signal: AbortSignal | undefined,
  options: RetryOptions,
): Promise<MadeAttempt> {
  const startedAtMs = platform.clock();
  const answer = await deliver(platform, webhook, message, signal);
  const nowMs = platform.clock();
  const outcome = outcomeOf(answer, {
    scheduleMs: scheduleOf(platform.config.deliveries.retryScheduleMs, webhook),
    step: step + 1,
    busyFloorMs: options.busyFloorMs ?? BUSY_FLOOR_MS,
    random: options.random ?? Math.random,
    nowMs,
  });
  // Before the record: who waits in line is called in by what the webhook's health says.
  await noteHealth(platform, webhook, answer, outcome);
  platform.counters.add("deliveries_total", { outcome: outcome.kind });
  return { number: message.attempt, startedAtMs, answer, outcome, nowMs };
}

async function noteHealth(
  platform: AttemptPlatform,
  webhook: Webhook,
  answer: Answer,
  outcome: Outcome,
): Promise<void> {
  if (outcome.kind === "delivered") await noteSuccess(platform, webhook);
  else if (answer.status === 410) await disableGone(platform, webhook);
  else await noteFailure(platform, webhook);
}
