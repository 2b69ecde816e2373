import { Type } from "typebox";
import { accepted, data, routeFor } from "../http/route.ts";
import { notFound } from "../lib/errors.ts";
import { LIMITS } from "../limits/catalogue.ts";
import type { Calling, Working } from "../platform.ts";
import { EventName, FilterSchema, FunctionCode, ListenerId } from "../subscriptions/schema.ts";
import { findEmitter } from "./find.ts";
import { replayEvent } from "./replay.ts";
import { EventSummarySchema } from "./schema.ts";
import { testFilter } from "./test-filter.ts";
import { testFunction } from "./test-function.ts";
import { traceEvent } from "./trace.ts";
import { EventTrace } from "./trace-schema.ts";

const route = routeFor<Working & Calling>();

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
      emitter_name: "hello",
      listener_id: "wh_0CjBAEdF3kWq9RtZ",
      listener_name: "orders",
      event_name: "",
      outcome: "matched",
      reason: null,
    },
    {
      id: "sub_0CjBBm3Xs6JpR9wF",
      emitter_id: "dc_*",
      emitter_name: null,
      listener_id: "wh_0CjBAFhG4mXr0SuA",
      listener_name: "archive",
      event_name: "",
      outcome: "filtered",
      reason: 'issue.state must be "open", but is "closed"',
    },
  ],
  trace_id: "4bf92f3577b34da6a3ce929d0e0e4736",
  trace_url: "https://traces.example.com/trace/4bf92f3577b34da6a3ce929d0e0e4736",
  dispatch: null,
  deliveries: [
    {
      id: "dlv_0CjBBm3Xs6JpR9wF",
      webhook_id: "wh_0CjBAEdF3kWq9RtZ",
      subscription_id: "sub_0CjBBk2Zt5HnQ8wE",
      emitter_id: emitterId,
      event_id: eventId,
      event_name: "",
      run_id: "run_0CjBBq6Av9MsU2zJ",
      state: "pending",
      reason: null,
      attempts_made: 1,
      last_attempt: attempt,
      next_attempt_at_ms: 1_700_000_005_000,
      finished_at_ms: null,
      issue_id: "iss_0CjBAEdW7fLq2ZpN",
      created_at: 1_700_000_000,
      trace_id: "4bf92f3577b34da6a3ce929d0e0e4736",
      attempts: [attempt],
      waiting_for: "its next scheduled attempt",
    },
  ],
  listeners: [],
  emitter_dropped: { "no-listener": 3 },
};

const idParams = Type.Object({ id: Type.String({ minLength: 1, maxLength: 256 }) });
const emitterQuery = Type.Object({
  emitter_id: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description: "The source or workflow; required with an event id, which is unique per emitter only.",
    }),
  ),
});

const Replayed = Type.Object(
  {
    deliveries: Type.Array(Type.Object({ id: Type.String(), webhook_id: Type.String() })),
    runs: Type.Array(Type.Object({ id: Type.String(), source_id: Type.String() })),
    workflows: Type.Array(Type.Object({ workflow_id: Type.String() })),
    skipped: Type.Array(Type.Object({ listener_id: Type.String(), reason: Type.String() }), {
      description: "Listeners that do not receive it again, and why.",
    }),
  },
  { title: "Replayed" },
);

const FilterTest = Type.Object(
  {
    tested: Type.Integer({ description: "Events of the channel among the last 100." }),
    matched: Type.Integer(),
    results: Type.Array(
      Type.Object({
        event_id: Type.String(),
        emitted_at_ms: Type.Integer({ description: "Unix milliseconds." }),
        matched: Type.Boolean(),
        reason: Type.Union([Type.String(), Type.Null()], {
          description: "The first condition that fails, with what the event has there.",
        }),
        event: EventSummarySchema.properties.event,
      }),
      { description: "Newest first." },
    ),
  },
  { title: "FilterTest" },
);

const FunctionTest = Type.Object(
  {
    results: Type.Array(
      Type.Object({
        event_id: Type.Union([Type.String(), Type.Null()], {
          description: "Null for an event of the request.",
        }),
        event: Type.Unknown({ description: "What it was called with." }),
        result: Type.Unknown({ description: "What would be sent; null if nothing would." }),
        dropped: Type.Boolean({ description: "True if the function returned null." }),
        error: Type.Union(
          [
            Type.Object({
              message: Type.String(),
              line: Type.Union([Type.Integer(), Type.Null()], { description: "In the code, from 1." }),
              column: Type.Union([Type.Integer(), Type.Null()], { description: "From 1." }),
            }),
            Type.Null(),
          ],
          { description: "Why the attempt would fail." },
        ),
        logs: Type.Array(Type.Object({ level: Type.String(), message: Type.String(), ts: Type.Integer() }), {
          description: "What it wrote to `console`, up to 4 KB.",
        }),
        ms: Type.Number({ description: "Duration." }),
      }),
      { description: "Newest first, or in the order of the request." },
    ),
  },
  { title: "FunctionTest" },
);

const traceQuery = Type.Object({
  ...emitterQuery.properties,
  expand: Type.Optional(
    Type.Literal("event", {
      description: "Return the whole event, too; without it, only its summary, which has up to 1 KB of it.",
    }),
  ),
});

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
    params: idParams,
    query: traceQuery,
    response: data(200, EventTrace),
    errors: ["not-found"],
    example: { params: { id: eventId }, query: { emitter_id: emitterId }, response: example },
    handler: ({ deps, params, query, owners }) =>
      traceEvent(
        deps,
        { id: params.id, emitterId: query.emitter_id, isExpanded: query.expand === "event" },
        owners,
      ),
  }),
  route({
    method: "POST",
    path: "/events/{id}/replay",
    id: "replayEvent",
    audit: "event.replayed",
    tag: "Events",
    summary: "Hand an event to its listeners again",
    description:
      "To one of them, or to all whose subscriptions match it now. A webhook that received it before receives it again " +
      "under the same `webhook-id`. Ids are those of `GET /events/{id}`.",
    access: { kind: "owner" },
    params: idParams,
    query: emitterQuery,
    body: Type.Object({ listener_id: Type.Optional(ListenerId) }),
    response: accepted(202, Replayed),
    errors: ["not-found", "conflict"],
    example: {
      params: { id: eventId },
      query: { emitter_id: emitterId },
      body: { listener_id: "wh_0CjBAEdF3kWq9RtZ" },
      response: {
        deliveries: [{ id: "dlv_0CjBBm3Xs6JpR9wF", webhook_id: "wh_0CjBAEdF3kWq9RtZ" }],
        runs: [],
        workflows: [],
        skipped: [],
      },
    },
    handler: async ({ deps, params: { id }, query, body, owners, changes }) => {
      const asked = { id, emitterId: query.emitter_id, listenerId: body.listener_id };
      const { replayed, ownerId } = await replayEvent(deps, asked, owners);
      changes({ id, ownerId });
      return replayed;
    },
  }),
  route({
    method: "POST",
    path: "/subscriptions/filter_test",
    id: "testFilter",
    audit: null,
    tag: "Subscriptions",
    summary: "Try a filter on the last events of an emitter",
    description: "Nothing is stored.",
    access: { kind: "owner" },
    // It only reads, and has a body because filters are long.
    role: "viewer",
    keyAccess: "read",
    body: Type.Object({
      emitter_id: Type.String({ minLength: 1, maxLength: 64, description: "Id of a source or workflow." }),
      event_name: Type.Optional(EventName),
      filter: FilterSchema,
    }),
    response: data(200, FilterTest),
    errors: ["not-found"],
    example: {
      body: { emitter_id: emitterId, filter: { "issue.state": "open" } },
      response: {
        tested: 1,
        matched: 0,
        results: [
          {
            event_id: eventId,
            emitted_at_ms: 1_700_000_000_000,
            matched: false,
            reason: 'issue.state must be "open", but is "closed"',
            event: { raw_event: { issue: { state: "closed" } } },
          },
        ],
      },
    },
    handler: async ({ deps, body, owners }) => {
      const emitter = await findEmitter(deps, body.emitter_id);
      if (!emitter || emitter.isHidden || !owners.includes(emitter.owner_id)) throw notFound("emitter");
      return await testFilter(deps, {
        emitterId: emitter.id,
        channel: body.event_name ?? "",
        filter: body.filter,
      });
    },
  }),
  route({
    method: "POST",
    path: "/subscriptions/function_test",
    id: "testFunction",
    audit: null,
    tag: "Subscriptions",
    summary: "Try a function on the last events of an emitter",
    description:
      "On the last 10 events of the channel, or on `events` of the request. Nothing is stored or sent. It counts as a run. " +
      "Code that could not be saved is a 400.",
    access: { kind: "owner" },
    body: Type.Object({
      emitter_id: Type.String({ minLength: 1, maxLength: 64, description: "Id of a source or workflow." }),
      event_name: Type.Optional(EventName),
      function: FunctionCode,
      events: Type.Optional(
        Type.Array(Type.Unknown(), { minItems: 1, maxItems: LIMITS.functionTestEvents.value }),
      ),
    }),
    response: data(200, FunctionTest),
    errors: ["not-found", "unavailable"],
    example: {
      body: {
        emitter_id: emitterId,
        function: "export default event => ({ state: event.issue.state });",
        events: [{ issue: { state: "closed" } }],
      },
      response: {
        results: [
          {
            event_id: null,
            event: { issue: { state: "closed" } },
            result: { state: "closed" },
            dropped: false,
            error: null,
            logs: [],
            ms: 1.2,
          },
        ],
      },
    },
    handler: async ({ deps, body, owner, owners }) => {
      const emitter = await findEmitter(deps, body.emitter_id);
      if (!emitter || emitter.isHidden || !owners.includes(emitter.owner_id)) throw notFound("emitter");
      const results = await testFunction(deps, {
        ownerId: owner,
        code: body.function,
        emitterId: emitter.id,
        channel: body.event_name ?? "",
        events: body.events,
      });
      return { results };
    },
  }),
];
