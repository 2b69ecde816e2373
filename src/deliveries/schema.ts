import { type Static, Type } from "typebox";
import { ShownOrgId } from "../accounts/access.ts";
import { OrNull, patternInWords, UnixSeconds } from "../lib/schemas.ts";
import { LIMITS } from "../limits/catalogue.ts";

const AttemptView = Type.Object({
  number: Type.Integer({ description: "Starts at 1; sent as `x-headwater-attempt`." }),
  at_ms: Type.Integer({
    description: "Unix milliseconds; its second was sent as `webhook-timestamp`.",
  }),
  trigger: Type.Union([Type.Literal("schedule"), Type.Literal("manual")]),
  status: Type.Union([Type.Integer(), Type.Null()], {
    description: "HTTP status; null if there was no response.",
  }),
  latency_ms: Type.Integer(),
  error: Type.Union([Type.String(), Type.Null()], {
    description: "Why the attempt failed; null if it succeeded.",
  }),
  response: Type.String({ description: "First KB of the response body." }),
});

const ActionOutputView = Type.Object(
  {
    summary: Type.Union([Type.String(), Type.Null()], { description: 'What it exported as "$summary".' }),
    exports: Type.Record(Type.String(), Type.Unknown(), { description: "The last value of each name." }),
    return_value: Type.Unknown({ description: "What `run` returned; null if nothing." }),
    truncated: Type.Boolean({ description: "True if something of it was more than the 4 KB that are kept." }),
    logs: Type.Array(Type.Object({ level: Type.String(), message: Type.String(), ts: Type.Integer() }), {
      description: "The last 4 KB of its log.",
    }),
  },
  { title: "ActionOutput" },
);

export const StateParam = Type.Union([
  Type.Literal("pending"),
  Type.Literal("delivered"),
  Type.Literal("failed"),
  Type.Literal("cancelled"),
]);

export const DeliveryView = Type.Object(
  {
    id: Type.String({ description: "`dlv_…`; sent as `webhook-id` with every attempt." }),
    org_id: ShownOrgId,
    webhook_id: Type.String(),
    webhook_name: Type.Optional(
      OrNull(Type.String(), "Name of the webhook or destination; null without one. Absent in `GET /live`."),
    ),
    subscription_id: Type.String(),
    emitter_id: Type.String(),
    emitter_name: Type.Optional(
      OrNull(
        Type.String(),
        "Name of the emitter; null if it is gone or of an account that you can't access. Absent in `GET /live`.",
      ),
    ),
    event_id: Type.String(),
    event_name: Type.String(),
    run_id: OrNull(Type.String(), "The run that emitted its event; null if it was published."),
    event_preview: Type.Optional(
      OrNull(
        Type.String(),
        "Only with `expand=preview`: the beginning of the event's JSON; null once it is no longer kept, and for who can't access its emitter.",
      ),
    ),
    state: StateParam,
    reason: Type.Union([Type.String(), Type.Null()], {
      description:
        "Why it failed or was cancelled: `exhausted` (no retries left), `gone` (the endpoint returned 410), " +
        "`webhook-disabled`, `payload-gone`, `webhook-deleted`, `subscription-deleted`, `access-lost` (the " +
        "subscription's owner can't access the emitter or the listener any more), `by-request` (somebody cancelled it) or " +
        "`dropped-by-function` (the subscription's function returned null); " +
        "otherwise null.",
    }),
    attempts_made: Type.Integer(),
    last_attempt: Type.Union([AttemptView, Type.Null()]),
    next_attempt_at_ms: OrNull(Type.Integer()),
    finished_at_ms: OrNull(Type.Integer()),
    issue_id: Type.Union([Type.String(), Type.Null()], {
      description:
        "The issue of its last failed attempt, also once it is delivered; null if none has failed.",
    }),
    created_at: Type.Integer({ description: "Unix seconds." }),
    trace_id: Type.Union([Type.String(), Type.Null()], {
      description: "Its trace, the same for all attempts; null without one.",
    }),
  },
  { title: "Delivery" },
);
export type DeliveryView = Static<typeof DeliveryView>;

export const DeliveryWithAttempts = Type.Object({
  ...DeliveryView.properties,
  attempts: Type.Array(
    Type.Object({
      ...AttemptView.properties,
      output: Type.Optional(ActionOutputView),
    }),
    {
      description: "The last 50 attempts, oldest first; those of an action with what it exported (`output`).",
    },
  ),
});
export type DeliveryWithAttempts = Static<typeof DeliveryWithAttempts>;

const DeliveryRequest = Type.Object(
  {
    method: Type.Literal("POST"),
    url: Type.String({ description: "The webhook's address as it is now." }),
    headers: Type.Record(Type.String(), Type.String(), {
      description:
        "Headers that are the same for each attempt; `number` and `at_ms` of an attempt are in two others.",
    }),
    cloud_event: Type.Union(
      [
        Type.Object(
          {
            specversion: Type.Literal("1.0"),
            id: Type.String(),
            source: Type.String(),
            type: Type.String(),
            time: Type.String(),
          },
          { title: "CloudEventAttributes" },
        ),
        Type.Null(),
      ],
      {
        description:
          "What the body has besides the event, which is its `data`, if the webhook's format is `cloudevents`; null: the body is the event.",
      },
    ),
    secret_header_names: Type.Array(Type.String(), {
      description: "Headers whose values are never shown: signatures, and custom headers as they are now.",
    }),
    webhook_updated_at: Type.Integer({
      description:
        "Unix seconds; attempts before may have gone to another address, with other custom headers.",
    }),
  },
  { title: "DeliveryRequest" },
);
export type DeliveryRequest = Static<typeof DeliveryRequest>;

export const DeliveryDetail = Type.Object(
  {
    ...DeliveryWithAttempts.properties,
    request: Type.Union([DeliveryRequest, Type.Null()], {
      description: "What each attempt sends; null if the webhook was deleted.",
    }),
    event: Type.Optional(
      Type.Unknown({
        description:
          "Only with `expand=event`: the event; absent once it is no longer kept, and for who can't access its emitter.",
      }),
    ),
    transformed_event: Type.Optional(
      Type.Unknown({
        description:
          "Only with `expand=event`: what the subscription's function made of the event, which is sent in its place; absent " +
          "before it has.",
      }),
    ),
  },
  { title: "DeliveryDetail" },
);
export type DeliveryDetail = Static<typeof DeliveryDetail>;

export const DeliveryExpand = Type.Object({
  expand: Type.Optional(Type.Literal("event", { description: "Return the event that is sent, too." })),
});

export const DeliveryFilter = Type.Object({
  state: Type.Optional(StateParam),
  since: Type.Optional(UnixSeconds("Only deliveries of events emitted since this time")),
  until: Type.Optional(UnixSeconds("Only deliveries of events emitted until this time")),
});
export type DeliveryFilter = Static<typeof DeliveryFilter>;

/** What selects deliveries of all webhooks of an account, for a search and for a replay. */
export const DeliverySelector = Type.Object({
  ...DeliveryFilter.properties,
  webhook_id: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  issue_id: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description: "Only those whose last failed attempt is of it.",
    }),
  ),
  emitter_id: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description: "The source or workflow whose events they are.",
    }),
  ),
  event_name: Type.Optional(
    Type.String({
      maxLength: LIMITS.channelCharacters.value,
      description: "Channel; empty for the default channel.",
    }),
  ),
  status: Type.Optional(
    Type.String({
      pattern: patternInWords(
        "^([1-5][0-9][0-9]|[1-5]xx|none)$",
        "must be an HTTP status such as 503, a class such as 5xx, or none",
      ),
      description:
        "HTTP status of the last attempt: `503`, a class such as `5xx`, or `none` without a response.",
    }),
  ),
  text: Type.Optional(
    Type.String({
      minLength: 2,
      maxLength: 200,
      description:
        "Words of the payload, whole and in either case, such as `order-17` or `ada@example.com`; all of them must be " +
        "in its values.",
    }),
  ),
});

/** What selects deliveries of a search. */
export const DeliverySearch = Type.Object({
  ...DeliverySelector.properties,
  event_id: Type.Optional(
    Type.String({
      pattern: patternInWords("^[0-9]{1,13}-[0-9]{1,10}$", "must be an event id such as 1700000000000-0"),
      description:
        "The event that they carry; with `emitter_id` only that emitter's, because others may have the id, too.",
    }),
  ),
  subscription_id: Type.Optional(
    Type.String({ minLength: 1, maxLength: 64, description: "The subscription that led to them." }),
  ),
  expand: Type.Optional(Type.Literal("preview", { description: "Return the beginning of each event, too." })),
});
export type DeliverySearch = Static<typeof DeliverySearch>;

/** Deliveries by their ids, for what is done to each of them. */
export const DeliveryIds = Type.Object({
  ids: Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
    minItems: 1,
    maxItems: LIMITS.deliveriesSelected.value,
    description: "Ids of deliveries, `dlv_…`, each of a webhook or destination that you can access.",
  }),
});

export const SelectedDeliveries = Type.Object(
  {
    done: Type.Integer({ description: "How many of them it was done to." }),
    results: Type.Array(
      Type.Object({
        id: Type.String(),
        result: Type.Union([Type.Literal("done"), Type.Literal("not-found"), Type.Literal("conflict")], {
          description:
            "`not-found`: there is none with this id that you can access. `conflict`: its state does not allow it.",
        }),
        reason: OrNull(Type.String(), "Why it was not done, for `conflict`; otherwise null."),
      }),
      { description: "What became of each, in the order of the ids." },
    ),
  },
  { title: "SelectedDeliveries" },
);
export type SelectedDeliveries = Static<typeof SelectedDeliveries>;

export const RecoverBody = Type.Object({
  since: UnixSeconds("Failed deliveries of events emitted since this time"),
  dry_run: Type.Optional(Type.Boolean({ description: "True: count the deliveries and change nothing." })),
});

const MsOrNull = OrNull(Type.Integer());

export const RecoveryView = Type.Object(
  {
    count: Type.Integer({ description: "Failed deliveries when it was requested." }),
    recovered: Type.Integer({
      description: "Deliveries that are retried so far; fewer if some events are gone.",
    }),
    state: Type.Union(
      [
        Type.Literal("counted"),
        Type.Literal("running"),
        Type.Literal("done"),
        Type.Literal("stopped"),
        Type.Literal("failed"),
      ],
      {
        description:
          "`counted`: nothing was changed (`dry_run`); `running`: a worker retries them; `done`; `stopped`: the " +
          "webhook was disabled; `failed`: its job failed again and again.",
      },
    ),
    since: Type.Integer({ description: "Unix seconds." }),
    started_at_ms: MsOrNull,
    finished_at_ms: MsOrNull,
  },
  { title: "Recovery" },
);
export type RecoveryView = Static<typeof RecoveryView>;

export const TestResult = Type.Object({
  status: Type.Union([Type.Integer(), Type.Null()], {
    description: "HTTP status; null if there was no response.",
  }),
  latency_ms: Type.Integer(),
  error: OrNull(Type.String()),
  response: Type.String({ description: "First KB of the response body." }),
});
export type TestResult = Static<typeof TestResult>;
