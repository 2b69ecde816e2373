import { type Static, Type } from "typebox";

const NullableText = (description: string) => Type.Union([Type.String(), Type.Null()], { description });
/** One schema and no union, so that a refusal names the limit that was missed. */
const NullableInteger = (description: string, limits: { minimum?: number; maximum?: number } = {}) =>
  Type.Unsafe<number | null>({ type: ["integer", "null"], ...limits, description });

/** How hard an endpoint may be driven, which its owner knows best. */
const MaxInFlight = NullableInteger(
  "Deliveries in flight to it at once, over all workers (one while it fails, or is ordered); " +
    "null: as the installation has it",
  { minimum: 1, maximum: 100 },
);
const RateLimitPerSecond = NullableInteger(
  "Attempts begun in a second, first ones and retries alike; a quarter more in a single second. What is above it " +
    "waits, and uses up no attempt; null: no limit",
  { minimum: 1, maximum: 10_000 },
);
const Ordered = Type.Boolean({
  description:
    "True: its events arrive one at a time, by event id, each after the one before was delivered or given up. One that " +
    "fails holds up those behind it; its retries are an hour apart at most. Costs half a second of delay, and throughput",
});

/** rest-api.md, section 2, and what the platform adds. */
export const WebhookView = Type.Object(
  {
    id: Type.String({ description: "`wh_…`; the `listener_id` of subscriptions" }),
    user_id: Type.String({ description: "Who created it" }),
    name: NullableText("Label shown in listings"),
    description: NullableText("Description shown in listings"),
    url: Type.String({ description: "Where events are sent to" }),
    active: Type.Boolean({ description: "False: nothing is sent, and its events count as dropped" }),
    disabled_reason: NullableText("Why the platform disabled it"),
    failing_since: NullableInteger("Unix seconds of the first failure since the last success"),
    will_be_disabled_at: NullableInteger(
      "Unix seconds; an attempt that fails later than this disables it, unless one succeeds before",
    ),
    notice: NullableText(
      "What its owner should know by now: that it is on the way to being disabled, and why",
    ),
    max_in_flight: MaxInFlight,
    rate_limit_per_second: RateLimitPerSecond,
    ordered: Ordered,
    header_names: Type.Array(Type.String(), {
      description: "Names of its custom headers; values are never shown",
    }),
    created_at: Type.Integer({ description: "Unix seconds" }),
    updated_at: Type.Integer({ description: "Unix seconds" }),
  },
  { title: "Webhook" },
);
export type WebhookView = Static<typeof WebhookView>;

/** The key is given here and never again. */
export const WebhookWithKey = Type.Object(
  {
    ...WebhookView.properties,
    signing_key: Type.String({ description: "`whsec_…`, shown this once: verifies what is sent" }),
  },
  { title: "WebhookWithKey" },
);
export type WebhookWithKey = Static<typeof WebhookWithKey>;

const Url = Type.String({
  minLength: 1,
  maxLength: 2048,
  description: "`http` or `https`, a hostname, and optionally a port and a path; no credentials",
});
const Name = Type.String({ maxLength: 256 });
const Description = Type.String({ maxLength: 1024 });
const Headers = Type.Record(Type.String(), Type.String(), {
  description: "Custom headers of each request, at most 20 and 4 KB; stored encrypted",
});

/** Parameters of `POST /webhooks`, documented as query (rest-api.md, section 4.6). */
export const NewWebhookParams = Type.Object({
  url: Url,
  name: Type.Optional(Name),
  description: Type.Optional(Description),
});

const Pace = {
  max_in_flight: Type.Optional(MaxInFlight),
  rate_limit_per_second: Type.Optional(RateLimitPerSecond),
  ordered: Type.Optional(Ordered),
};

export const NewWebhookBody = Type.Object({ headers: Type.Optional(Headers), ...Pace });

/** What is left out stays as it is; null removes. */
export const WebhookChanges = Type.Object({
  url: Type.Optional(Url),
  name: Type.Optional(Type.Union([Name, Type.Null()])),
  description: Type.Optional(Type.Union([Description, Type.Null()])),
  active: Type.Optional(
    Type.Boolean({ description: "True also forgets why it was disabled and since when it fails" }),
  ),
  headers: Type.Optional(Type.Union([Headers, Type.Null()], { description: "Replaces all custom headers" })),
  ...Pace,
});
export type WebhookChanges = Static<typeof WebhookChanges>;
