import { type Issue, Issues } from "../../models/issue.ts";
import type { McpListener } from "../../models/webhook.ts";
import type { Stores } from "../../platform.ts";
import type { CallbackFault } from "./challenge.ts";

/** How deliveries to a callback went until a refresh, as the Events extension names it. */
export interface DeliveryStatus {
  /** False if it was disabled, which the refresh has ended. */
  active: boolean;
  /** ISO 8601; null before the first. */
  lastDeliveryAt: string | null;
  /** Null while deliveries succeed; nothing that the callback responded. */
  lastError: CallbackFault | null;
  /** ISO 8601: the first failure since the last success. */
  failedSince?: string;
}

/** Returns how deliveries went of a subscription, as it was before its refresh. Some seconds old. */
export async function deliveryStatusOf({ mongo }: Stores, before: McpListener): Promise<DeliveryStatus> {
  const { _id, active, last_success_ms: deliveredMs, failing_since_ms: failedMs } = before;
  const status = { active, lastDeliveryAt: deliveredMs === undefined ? null : isoOf(deliveredMs) };
  if (failedMs === null) return { ...status, lastError: null };
  const issue = await Issues(mongo)
    .findOne({ listener_id: _id }, { cause: 1, last_status: 1 })
    .sort({ last_seen_ms: -1 })
    .lean<Pick<Issue, "cause" | "last_status"> | null>();
  return { ...status, lastError: issue && faultOf(issue), failedSince: isoOf(failedMs) };
}

const isoOf = (ms: number) => new Date(ms).toISOString();

/** A redirect, which is not followed, counts as a response that rejects. */
function faultOf({ cause, last_status: status }: Pick<Issue, "cause" | "last_status">): CallbackFault {
  if (status !== null) return status >= 500 ? "http_5xx" : "http_4xx";
  if (cause === "timeout") return "timeout";
  return cause === "tls" ? "tls_error" : "connection_refused";
}
