import { Type } from "typebox";
import { data } from "../http/response.ts";
import { routeFor } from "../http/route.ts";
import { type TraceDeps, traceEvent } from "./trace.ts";
import { EventTrace } from "./trace-schema.ts";

const route = routeFor<TraceDeps>();

const emitterId = "dc_0CjB9uPc7RfT1xLs";
const eventId = "1700000000000-0";
const emitId = "run_0CjBBq6Av9MsU2zJ-0";
const attempt = {
  number: 1,
  at_ms: 1_700_000_000_120,
  trigger: "schedule" as const,
  status: 503,
  latency_ms: 41,
  error: "HTTP status 503",
  response: "try later",
};
const example: EventTrace = {
  state: "emitted",
  emitter_id: emitterId,
  emit_id: emitId,
  event_id: eventId,
  name: "",
  emitted_at_ms: 1_700_000_000_000,
  summary: {
    id: eventId,
    indexed_at_ms: 1_700_000_000_000,
    event: { raw_event: { issue: { state: "closed" } } },
    metadata: { emit_id: emitId, name: "", emitter_id: emitterId },
  },
  payload: "stored",
  run: {
    id: "run_0CjBBq6Av9MsU2zJ",
    source_id: emitterId,
    trigger: "http",
    outcome: "ok",
    error: null,
    emitted: 1,
    dropped: {},
    started_at_ms: 1_700_000_000_000,
    finished_at_ms: 1_700_000_000_010,
  },
  subscriptions: [
    {
      id: "sub_0CjBBk2Zt5HnQ8wE",
      emitter_id: emitterId,
      listener_id: "wh_0CjBAEdF3kWq9RtZ",
      event_name: "",
      outcome: "matched",
      reason: null,
    },
    {
      id: "sub_0CjBBm3Xs6JpR9wF",
      emitter_id: "dc_*",
      listener_id: "wh_0CjBAFhG4mXr0SuA",
      event_name: "",
      outcome: "filtered",
      reason: 'issue.state must be "open", but is "closed"',
    },
  ],
  dispatch: null,
  deliveries: [
    {
      id: "dlv_0CjBBm3Xs6JpR9wF",
      webhook_id: "wh_0CjBAEdF3kWq9RtZ",
      subscription_id: "sub_0CjBBk2Zt5HnQ8wE",
      emitter_id: emitterId,
      event_id: eventId,
      event_name: "",
      state: "pending",
      reason: null,
      attempts_made: 1,
      last_attempt: attempt,
      next_attempt_at_ms: 1_700_000_005_000,
      finished_at_ms: null,
      created_at: 1_700_000_000,
      attempts: [attempt],
      waiting_for: "its next scheduled attempt",
    },
  ],
  listeners: [],
  emitter_dropped: { "no-listener": 3 },
};

/** Where is my event? (docs/troubleshooting.md) */
export const eventRoutes = [
  route({
    method: "GET",
    path: "/events/{id}",
    id: "traceEvent",
    tag: "Events",
    summary: "Trace an event: where did it go?",
    description:
      "`id` is an event id, an emit id, or a delivery's id (the `webhook-id` header of a request). Returns the run that " +
      "emitted it, its summary, which subscriptions matched or were filtered out and why, its deliveries with all " +
      "attempts, and what is still queued. Subscriptions are evaluated as they are now.",
    access: { kind: "owner" },
    params: Type.Object({ id: Type.String({ minLength: 1, maxLength: 256 }) }),
    query: Type.Object({
      emitter_id: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 64,
          description: "The source or workflow; required with an event id, which is unique per emitter only.",
        }),
      ),
    }),
    response: data(200, EventTrace),
    errors: ["not-found"],
    example: { params: { id: eventId }, query: { emitter_id: emitterId }, response: example },
    handler: ({ deps, params, query, owners }) =>
      traceEvent(deps, { id: params.id, emitterId: query.emitter_id }, owners),
  }),
];
