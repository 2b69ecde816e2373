import { type Static, Type } from "typebox";
import { DeliveryWithAttempts } from "../deliveries/schema.ts";
import { OrNull } from "../lib/schemas.ts";
import type { RunRecord } from "../models/run.ts";
import { EventSummarySchema } from "./schema.ts";

/** The few facts of a run that explain what became of an event. */
const RunSummary = Type.Object({
  id: Type.String(),
  source_id: Type.String(),
  trigger: Type.String(),
  outcome: Type.String({ description: "`ok`, or the code of the error" }),
  error: Type.Union([Type.Object({ code: Type.String(), message: Type.String() }), Type.Null()]),
  emitted: Type.Integer(),
  dropped: Type.Record(Type.String(), Type.Integer()),
  started_at_ms: Type.Union([Type.Integer(), Type.Null()]),
  finished_at_ms: Type.Integer(),
});
export type RunSummary = Static<typeof RunSummary>;

export const summarizeRun = (record: RunRecord): RunSummary => ({
  id: record._id,
  source_id: record.source_id,
  trigger: record.kind,
  outcome: record.outcome,
  error: record.error ?? null,
  emitted: record.emitted,
  dropped: record.dropped,
  started_at_ms: record.started_at_ms ?? null,
  finished_at_ms: record.finished_at.getTime(),
});

const TracedSubscription = Type.Object({
  id: Type.String(),
  emitter_id: Type.String(),
  emitter_name: OrNull(Type.String(), "Null for one of an account that you can't access"),
  listener_id: Type.String(),
  listener_name: OrNull(Type.String(), "Null without one, or for one of an account that you can't access"),
  event_name: Type.String(),
  outcome: Type.Union(
    [
      Type.Literal("matched"),
      Type.Literal("filtered"),
      Type.Literal("other-channel"),
      Type.Literal("created-later"),
    ],
    { description: "As the subscription is now: it may have been changed since the event" },
  ),
  reason: OrNull(Type.String(), "Why it did not match, or why its listener received nothing"),
});
export type TracedSubscription = Static<typeof TracedSubscription>;

const TracedDelivery = Type.Object({
  ...DeliveryWithAttempts.properties,
  waiting_for: OrNull(Type.String(), "What a pending delivery waits for"),
});

const TracedListener = Type.Object({
  subscription_id: Type.String(),
  listener_id: Type.String({ description: "The source or workflow" }),
  state: Type.Union(
    [
      Type.Literal("queued"),
      Type.Literal("finished"),
      Type.Literal("taken"),
      Type.Literal("failed"),
      Type.Literal("unknown"),
    ],
    {
      description:
        "`queued`: waits in the run queue, or for a workflow engine; `finished`: the source ran; `taken`: an engine took it; " +
        "`failed`: an engine gave it up; `unknown`: no record is left",
    },
  ),
  run: Type.Union([RunSummary, Type.Null()], { description: "The run of a source that listens" }),
});

export const EventTrace = Type.Object(
  {
    state: Type.Union([Type.Literal("queued"), Type.Literal("emitted")], {
      description: "`queued`: accepted, and not yet handled by the emissions worker",
    }),
    emitter_id: Type.String(),
    emit_id: OrNull(Type.String(), "Null if it is no longer known"),
    event_id: OrNull(Type.String(), "Null while the event is queued"),
    name: OrNull(Type.String(), "Channel; empty for the default channel"),
    emitted_at_ms: OrNull(Type.Integer(), "Unix milliseconds"),
    summary: Type.Union([EventSummarySchema, Type.Null()], {
      description: "Null if it is no longer among the last 100 of its stream, or was deleted",
    }),
    payload: Type.Union([Type.Literal("stored"), Type.Literal("in-summary"), Type.Literal("gone")], {
      description: "Where the whole event is; once it is gone, it can't be retried",
    }),
    event: Type.Optional(
      Type.Unknown({
        description:
          "Only with `expand=event`: the whole event as its listeners receive it; absent once its payload is gone",
      }),
    ),
    run: Type.Union([RunSummary, Type.Null()], { description: "The run that emitted it" }),
    trace_id: OrNull(Type.String(), "Its trace in your tracing tool, if there is one"),
    trace_url: OrNull(Type.String(), "Where that trace is shown; null if it was not recorded"),
    subscriptions: Type.Array(TracedSubscription, {
      description: "Subscriptions to the emitter, evaluated now; at most 100",
    }),
    dispatch: Type.Union([Type.Object({ job_id: Type.String(), state: Type.String() }), Type.Null()], {
      description: "First attempts that are not recorded yet, and the state of their job",
    }),
    deliveries: Type.Array(TracedDelivery, { description: "Deliveries to your webhooks; at most 100" }),
    listeners: Type.Array(TracedListener, { description: "What became of it at sources and workflows" }),
    emitter_dropped: Type.Record(Type.String(), Type.Integer(), {
      description: "All events of this emitter that were dropped on purpose, reason to count",
    }),
  },
  { title: "EventTrace" },
);
export type EventTrace = Static<typeof EventTrace>;
