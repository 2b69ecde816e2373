import { type Static, Type } from "typebox";

const Nullable = <T extends ReturnType<typeof Type.String> | ReturnType<typeof Type.Integer>>(schema: T) =>
  Type.Union([schema, Type.Null()]);

const AttemptView = Type.Object({
  number: Type.Integer({ description: "Counts from 1; sent as `x-headwater-attempt`" }),
  at_ms: Type.Integer({ description: "Unix milliseconds" }),
  trigger: Type.Union([Type.Literal("schedule"), Type.Literal("manual")]),
  status: Type.Union([Type.Integer(), Type.Null()], {
    description: "HTTP status; null where no answer came",
  }),
  latency_ms: Type.Integer(),
  error: Type.Union([Type.String(), Type.Null()], { description: "Why it counts as failed" }),
  response: Type.String({ description: "First KB of the answer's body" }),
});

export const StateParam = Type.Union([
  Type.Literal("pending"),
  Type.Literal("delivered"),
  Type.Literal("failed"),
  Type.Literal("cancelled"),
]);

export const DeliveryView = Type.Object(
  {
    id: Type.String({ description: "`dlv_…`; sent as `webhook-id` with every attempt" }),
    webhook_id: Type.String(),
    subscription_id: Type.String(),
    emitter_id: Type.String(),
    event_id: Type.String(),
    event_name: Type.String(),
    state: StateParam,
    reason: Type.Union([Type.String(), Type.Null()], {
      description:
        "`exhausted` (the schedule is used up), `gone` (410), `webhook-disabled`, `payload-gone`, " +
        "`webhook-deleted` or `subscription-deleted`",
    }),
    attempts_made: Type.Integer(),
    last_attempt: Type.Union([AttemptView, Type.Null()]),
    next_attempt_at_ms: Nullable(Type.Integer()),
    finished_at_ms: Nullable(Type.Integer()),
    created_at: Type.Integer({ description: "Unix seconds" }),
  },
  { title: "Delivery" },
);
export type DeliveryView = Static<typeof DeliveryView>;

export const DeliveryWithAttempts = Type.Object({
  ...DeliveryView.properties,
  attempts: Type.Array(AttemptView, { description: "The last 50, oldest first" }),
});
export type DeliveryWithAttempts = Static<typeof DeliveryWithAttempts>;

const UnixSeconds = (description: string) =>
  Type.Integer({
    minimum: 0,
    maximum: 32_503_680_000,
    description: `Unix seconds, inclusive: ${description}`,
  });

export const DeliveryFilter = Type.Object({
  state: Type.Optional(StateParam),
  since: Type.Optional(UnixSeconds("events emitted from then on")),
  until: Type.Optional(UnixSeconds("events emitted up to then")),
});
export type DeliveryFilter = Static<typeof DeliveryFilter>;

export const RecoverBody = Type.Object({
  since: UnixSeconds("failed deliveries of events emitted from then on"),
  dry_run: Type.Optional(Type.Boolean({ description: "True counts them and changes nothing" })),
});

export const Recovered = Type.Object({
  count: Type.Integer({ description: "Deliveries tried again, or that would be" }),
});

export const TestResult = Type.Object({
  status: Type.Union([Type.Integer(), Type.Null()], {
    description: "HTTP status; null where no answer came",
  }),
  latency_ms: Type.Integer(),
  error: Nullable(Type.String()),
  response: Type.String({ description: "First KB of the answer's body" }),
});
export type TestResult = Static<typeof TestResult>;
