import type { EndpointResponse, Message } from "../../destinations/message.ts";
import { issueCountsOf } from "../../issues/issue-counts.ts";
import { isMcpListener, type Webhook } from "../../models/webhook.ts";
import type { Calling, Observed, Stores } from "../../platform.ts";
import { disableGone, noteFailure, noteSuccess } from "../../webhooks/health.ts";
import { BUSY_FLOOR_MS, type Decision, decide, scheduleOf } from "./retry-policy.ts";
import { send } from "./send.ts";

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
  /** Why it failed, as its issue names it; null for a success. */
  cause: string | null;
}

/**
 * Sends a message to its webhook, decides what follows, and updates the webhook's health. `retryIndex` counts the attempts
 * since the schedule started, without this one. Throws `unavailable` if `signal` aborts it.
 */
export async function makeAttempt(
  platform: Calling,
  { webhook, message, retryIndex }: { webhook: Webhook; message: Message; retryIndex: number },
  signal: AbortSignal | undefined,
  options: RetryOptions,
): Promise<Attempted> {
  const startedAtMs = platform.clock();
  const response = await sendTraced(platform, webhook, message, signal, startedAtMs);
  const nowMs = platform.clock();
  const decision = decideFor(platform, webhook, { response, retryIndex, nowMs }, options);
  const cause = await findCause(platform, webhook, response);
  // Before the record: the webhook's health decides how many permits it has.
  await updateHealth(platform, webhook, { response, decision, cause });
  platform.metrics.count("deliveries_total", { outcome: decision.kind });
  platform.metrics.observe("delivery_duration_seconds", response.latencyMs / 1000, {
    outcome: decision.kind,
  });
  return { number: message.attempt, startedAtMs, response, decision, nowMs, cause };
}

function decideFor(
  { config }: Stores,
  webhook: Webhook,
  { response, retryIndex, nowMs }: { response: EndpointResponse; retryIndex: number; nowMs: number },
  options: RetryOptions,
): Decision {
  return decide(response, {
    scheduleMs: scheduleOf(config.deliveries.retryScheduleMs, webhook),
    retryIndex: retryIndex + 1,
    busyFloorMs: options.busyFloorMs ?? BUSY_FLOOR_MS,
    random: options.random ?? Math.random,
    nowMs,
    ...(isMcpListener(webhook) && { goneStatuses: MCP_GONE }),
  });
}

/** What ends a delivery to an agent, and nothing else of its subscription: the event is not wanted, or too large. */
const MCP_GONE = [410, 413];

/**
 * Returns an attempt that failed because the subscription's function did: nothing was sent, so the endpoint's health stays
 * as it is, but the retry schedule goes on, so that a corrected function delivers the event (docs/functions.md).
 */
export async function failedAttempt(
  platform: Stores & Observed,
  webhook: Webhook,
  { number, retryIndex, startedAtMs, error }: Unsendable,
  options: RetryOptions,
): Promise<Attempted> {
  const nowMs = platform.clock();
  const latencyMs = nowMs - startedAtMs;
  const response = { status: null, latencyMs, error, response: "", retryAfter: null, timedOut: false };
  const decision = decideFor(platform, webhook, { response, retryIndex, nowMs }, options);
  platform.metrics.count("deliveries_total", { outcome: decision.kind });
  const cause = await findCause(platform, webhook, response);
  return { number, startedAtMs, response, decision, nowMs, cause };
}

/** Why an attempt failed; a success asks nothing. */
async function findCause(
  platform: Stores,
  { _id }: Webhook,
  response: EndpointResponse,
): Promise<string | null> {
  return response.error === null ? null : await issueCountsOf(platform).causeOf(_id, response);
}

/** An attempt that had nothing to send. */
export interface Unsendable {
  number: number;
  /** Attempts since the schedule started, without this one. */
  retryIndex: number;
  startedAtMs: number;
  error: string;
}

/** Sends the message in a span of its own, whose context its receiver gets. */
async function sendTraced(
  platform: Calling,
  webhook: Webhook,
  message: Message,
  signal: AbortSignal | undefined,
  startedAtMs: number,
): Promise<EndpointResponse> {
  const span = platform.tracer.start("deliver", message.trace, startedAtMs);
  const sent = span ? { ...message, trace: span.context } : message;
  const response = await send(platform, webhook, sent, signal, startedAtMs);
  span?.end(
    {
      "headwater.delivery_id": message.id,
      "headwater.webhook_id": webhook._id,
      "headwater.event_id": message.eventId,
      "headwater.attempt": message.attempt,
      "http.response.status_code": response.status ?? undefined,
    },
    platform.clock(),
    errorTypeOf(response),
  );
  return response;
}

/** The status, or the code of the error; not the error's text, which may name the endpoint. */
function errorTypeOf({ status, error }: EndpointResponse): string | undefined {
  if (error === null) return undefined;
  return status === null ? error.split(":")[0] : String(status);
}

async function updateHealth(
  platform: Calling,
  webhook: Webhook,
  { response, decision, cause }: Pick<Attempted, "response" | "decision" | "cause">,
): Promise<void> {
  const isGone = decision.kind === "failed" && decision.reason === "gone";
  if (decision.kind === "delivered") await noteSuccess(platform, webhook);
  else if (isGone && isMcpListener(webhook)) return;
  else if (response.status === 410) await disableGone(platform, webhook, cause);
  else await noteFailure(platform, webhook, cause);
}
