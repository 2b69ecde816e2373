import { type Static, Type } from "typebox";

const OrNull = (description: string) => Type.Union([Type.Number(), Type.Null()], { description });

const HourStats = Type.Object(
  {
    at: Type.Integer({ description: "When the hour began; Unix seconds." }),
    emitted: Type.Integer({ description: "Events, but not errors and log lines." }),
    runs: Type.Integer(),
    run_errors: Type.Integer({ description: "Runs that failed." }),
    attempts: Type.Integer({ description: "Requests to webhooks." }),
    delivered: Type.Integer({ description: "Deliveries that were delivered." }),
    failed: Type.Integer({ description: "Deliveries that failed for good." }),
    cancelled: Type.Integer(),
    retried: Type.Integer({ description: "Attempts after which another one follows." }),
    dropped: Type.Record(Type.String(), Type.Integer(), {
      description:
        "Events of an emitter that were dropped on purpose, by reason; empty for webhooks and accounts.",
    }),
    p50_ms: OrNull("Median latency of the attempts, to 5 %; null without any."),
    p95_ms: OrNull("The latency that 95 % of them stayed below."),
  },
  { title: "HourStats" },
);
export type HourStats = Static<typeof HourStats>;

export const Stats = Type.Object(
  {
    hours: Type.Array(HourStats, { description: "Every hour, oldest first; the last one is not over." }),
    total: HourStats,
  },
  { title: "Stats" },
);
export type Stats = Static<typeof Stats>;

export const StatsQuery = Type.Object({
  hours: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 720, default: 24, description: "How many hours, up to 30 days." }),
  ),
});

export const WebhookTotals = Type.Object(
  { webhook_id: Type.String(), ...HourStats.properties },
  { title: "WebhookTotals" },
);

export const WebhookIds = Type.Object({
  webhook_ids: Type.String({
    minLength: 1,
    maxLength: 4000,
    description: "Comma-separated ids of up to 100 webhooks.",
  }),
});

export const LiveQuery = Type.Object({
  emitters: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 1000,
      description: "Comma-separated ids of up to 20 sources and workflows whose events to stream.",
    }),
  ),
  deliveries: Type.Optional(
    Type.Boolean({ description: "Stream the deliveries to the account's webhooks." }),
  ),
  runs: Type.Optional(Type.Boolean({ description: "Stream the runs of the account's sources." })),
});
