import type { Webhook } from "../../models/webhook.ts";
import type { Platform } from "../../platform.ts";
import { disableGone, noteFailure, noteSuccess } from "../../webhooks/health.ts";
import { BUSY_FLOOR_MS, type Decision, decide, scheduleOf } from "./retry-policy.ts";
import { type EndpointResponse, type Message, send } from "./send.ts";

export type AttemptDeps = Pick<
  Platform,
  "mongo" | "routing" | "metrics" | "egress" | "secrets" | "config" | "clock"
>;

export interface RetryOptions {
  /** Least milliseconds before the next attempt after a 429 or a time-out. */
  busyFloorMs?: number;
  random?: () => number;
}

/** One attempt and what follows from it; not recorded yet. */
export interface Attempted {
  number: number;
  startedAtMs: number;
  response: EndpointResponse;
  decision: Decision;
  /** When the response had arrived. */
  nowMs: number;
}

/**
 * Sends a message to its webhook, decides what follows, and updates the webhook's health. `retryIndex` counts the attempts
 * since the schedule started, without this one. Throws `unavailable` if `signal` aborts it.
 */
export async function makeAttempt(
  platform: AttemptDeps,
  { webhook, message, retryIndex }: { webhook: Webhook; message: Message; retryIndex: number },
  signal: AbortSignal | undefined,
  options: RetryOptions,
): Promise<Attempted> {
  const startedAtMs = platform.clock();
  const response = await send(platform, webhook, message, signal, startedAtMs);
  const nowMs = platform.clock();
  const decision = decide(response, {
    scheduleMs: scheduleOf(platform.config.deliveries.retryScheduleMs, webhook),
    retryIndex: retryIndex + 1,
    busyFloorMs: options.busyFloorMs ?? BUSY_FLOOR_MS,
    random: options.random ?? Math.random,
    nowMs,
  });
  // Before the record: the webhook's health decides how many permits the waitlist is granted.
  await updateHealth(platform, webhook, response, decision);
  platform.metrics.count("deliveries_total", { outcome: decision.kind });
  platform.metrics.observe("delivery_duration_seconds", response.latencyMs / 1000, {
    outcome: decision.kind,
  });
  return { number: message.attempt, startedAtMs, response, decision, nowMs };
}

async function updateHealth(
  platform: AttemptDeps,
  webhook: Webhook,
  response: EndpointResponse,
  decision: Decision,
): Promise<void> {
  if (decision.kind === "delivered") await noteSuccess(platform, webhook);
  else if (response.status === 410) await disableGone(platform, webhook);
  else await noteFailure(platform, webhook);
}
