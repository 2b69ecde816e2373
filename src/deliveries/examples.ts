import type { DeliveryView, RecoveryView } from "./schema.ts";

export const lastAttempt = {
  number: 1,
  at_ms: 1_700_000_000_120,
  trigger: "schedule" as const,
  status: 503,
  latency_ms: 41,
  error: "HTTP status 503",
  response: "try later",
};
export const exampleDelivery: DeliveryView = {
  id: "dlv_0CjBBm3Xs6JpR9wF",
  webhook_id: "wh_0CjBAEdF3kWq9RtZ",
  webhook_name: "orders",
  subscription_id: "sub_0CjBBk2Zt5HnQ8wE",
  emitter_id: "dc_0CjB9uPc7RfT1xLs",
  emitter_name: "hello",
  event_id: "1700000000000-0",
  event_name: "",
  run_id: "run_0CjBBq6Av9MsU2zJ",
  state: "pending",
  reason: null,
  attempts_made: 1,
  last_attempt: lastAttempt,
  next_attempt_at_ms: 1_700_000_005_000,
  finished_at_ms: null,
  issue_id: "iss_0CjBAEdW7fLq2ZpN",
  created_at: 1_700_000_000,
  trace_id: "4bf92f3577b34da6a3ce929d0e0e4736",
};
export const exampleRecovery: RecoveryView = {
  count: 12,
  recovered: 0,
  state: "running",
  since: 1_700_000_000,
  started_at_ms: 1_700_000_600_000,
  finished_at_ms: null,
};
