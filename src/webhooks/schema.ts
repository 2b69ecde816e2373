import { type Static, Type } from "typebox";
import { ShownOrgId } from "../accounts/access.ts";
import { BODY_FORMATS, type BodyFormat } from "../lib/body-formats.ts";
import { NullableInteger, NullableText, patternInWords } from "../lib/schemas.ts";
import { DURATION } from "../lib/time.ts";
import { LIMITS } from "../limits/catalogue.ts";
import { SecretsRemoved } from "../props/configure.ts";
import { shownLastTimes } from "../store/last-times.ts";
import { SortParam } from "../store/order.ts";
import { Revision } from "../store/revisions.ts";
import { TextFilter } from "../store/text-filter.ts";
import type { Signing } from "./signing-keys.ts";

const MaxInFlight = NullableInteger(
  "Maximum number of deliveries in flight at once, over all workers (1 while the webhook is failing, or if it is " +
    "ordered); null: the server's default.",
  { minimum: 1, maximum: 100 },
);
const RateLimitPerSecond = NullableInteger(
  "Maximum number of attempts started per second, first attempts and retries; up to a quarter more in a single " +
    "second. Deliveries above the limit wait, which does not count as an attempt; null: no limit.",
  { minimum: 1, maximum: 10_000 },
);
const Ordered = Type.Boolean({
  description:
    "True: events are sent one at a time, in the order of their ids, each after the one before was delivered or has " +
    "failed for good. A failing delivery blocks the ones after it, so its retries are at most an hour apart. Adds half " +
    "a second of delay, and lowers throughput.",
});

const RetrySchedule = Type.Unsafe<string[] | null>({
  type: ["array", "null"],
  items: Type.String({
    pattern: patternInWords(
      `^${DURATION}$`,
      "must be a duration, such as 30s: a whole number with ms, s, m, h or d",
    ),
    maxLength: 12,
  }),
  maxItems: LIMITS.retryWaits.value,
  description:
    'The waits after the first, second, … failed attempt, such as `["5s", "1m", "1h"]`: at most 20, each at least a second, ' +
    "and 7 days altogether; an empty list: no retries; null: the server's. The next decision goes by a changed one.",
});
const TimeoutSeconds = NullableInteger(
  "How long one attempt may take, at most what the server allows; null: the server's time.",
  { minimum: 1, maximum: LIMITS.longestAttemptMs.value / 1000 },
);

const SigningKind = Type.Unsafe<Signing>({
  type: "string",
  enum: ["hmac", "ed25519"],
  description:
    "How requests are signed: `hmac`, with a key that the receiver has too (`v1,…`); or `ed25519`, with a key pair of which the " +
    "receiver has the public part only (`v1a,…`).",
});

const Format = Type.Unsafe<BodyFormat>({
  type: "string",
  enum: BODY_FORMATS,
  description:
    "The body of requests: `json`, the event as it is; `cloudevents`, a CloudEvent 1.0 whose `data` is the event (structured mode); or " +
    "`cloudevents-binary`, the event as it is, with the CloudEvent's attributes in headers (`ce-id` and the like).",
});

/** A webhook as the API shows it (docs/rest-api.md#webhook). */
export const WebhookView = Type.Object(
  {
    id: Type.String({ description: "`wh_…`; use it as the `listener_id` of subscriptions." }),
    user_id: Type.String({ description: "The user who created it." }),
    org_id: ShownOrgId,
    name: NullableText("Label shown in listings."),
    description: NullableText("Description shown in listings."),
    url: Type.String({ description: "Address that events are sent to." }),
    active: Type.Boolean({ description: "False: no events are sent; they are counted as dropped." }),
    disabled_reason: NullableText("Why the platform disabled it; null if it did not."),
    failing_since: NullableInteger(
      "Unix seconds of the first failed attempt since the last success; null while it works.",
    ),
    will_be_disabled_at: NullableInteger(
      "Unix seconds; an attempt that fails after this time disables the webhook, unless an attempt succeeds before.",
    ),
    notice: NullableText("A warning to the owner that the webhook is about to be disabled, and why."),
    max_in_flight: MaxInFlight,
    rate_limit_per_second: RateLimitPerSecond,
    ordered: Ordered,
    retry_schedule: RetrySchedule,
    timeout_seconds: TimeoutSeconds,
    format: Format,
    ...shownLastTimes(
      "an event was last sent to it",
      "an attempt last succeeded",
      "an attempt or a delivery last failed",
    ),
    header_names: Type.Array(Type.String(), {
      description: "Names of its custom headers; the values are never shown.",
    }),
    signing: SigningKind,
    public_key: NullableText(
      "`whpk_…` of an ed25519 key pair, for verifying the signatures of deliveries; null with `hmac`.",
    ),
    created_at: Type.Integer({ description: "Unix seconds." }),
    updated_at: Type.Integer({ description: "Unix seconds." }),
    revision: Revision,
  },
  { title: "Webhook" },
);
export type WebhookView = Static<typeof WebhookView>;

export const UpdatedWebhook = Type.Object(
  { ...WebhookView.properties, secrets_removed: SecretsRemoved },
  { title: "UpdatedWebhook" },
);
export type UpdatedWebhook = Static<typeof UpdatedWebhook>;

/** The only responses that show the key. */
export const WebhookWithKey = Type.Object(
  {
    ...WebhookView.properties,
    signing_key: Type.String({
      description:
        "For verifying the signatures of deliveries: `whsec_…`, which is never shown again; with ed25519 the `public_key`.",
    }),
  },
  { title: "WebhookWithKey" },
);
export type WebhookWithKey = Static<typeof WebhookWithKey>;

const Url = Type.String({
  minLength: 1,
  maxLength: LIMITS.urlCharacters.value,
  description:
    "`http` or `https` URL with a host name, optionally with a port and a path, without credentials.",
});
export const Name = Type.String({ maxLength: 256 });
export const Description = Type.String({ maxLength: 1024 });
const Headers = Type.Record(Type.String(), Type.String(), {
  description: "Custom headers of every request, at most 20 and 4 KB in total; stored encrypted.",
});

/** What selects webhooks of a list, or destinations, and in which order. */
export const WebhookFilter = Type.Object({
  sort: SortParam,
  q: TextFilter("their name, URL or id"),
  state: Type.Optional(
    Type.Union([Type.Literal("active"), Type.Literal("failing"), Type.Literal("disabled")], {
      description:
        "`active`: works, or was not used yet; `failing`: no attempt has succeeded since one failed; `disabled`: nothing is " +
        "sent, because its owner or the platform disabled it.",
    }),
  ),
});
export type WebhookFilter = Static<typeof WebhookFilter>;

/** Query parameters of `POST /webhooks` (docs/rest-api.md#webhooks). */
export const NewWebhookParams = Type.Object({
  url: Url,
  name: Type.Optional(Name),
  description: Type.Optional(Description),
});

/** Settings of deliveries, the same for webhooks and destinations. */
export const DeliverySettings = {
  max_in_flight: Type.Optional(MaxInFlight),
  rate_limit_per_second: Type.Optional(RateLimitPerSecond),
  ordered: Type.Optional(Ordered),
  retry_schedule: Type.Optional(RetrySchedule),
  timeout_seconds: Type.Optional(TimeoutSeconds),
};

/** Not a query parameter: addresses are logged on the way. */
const SigningKey = Type.String({
  maxLength: 128,
  description: "Your own signing key, `whsec_` and the base64 of 24 to 64 bytes; left out: a new one.",
});

export const NewWebhookBody = Type.Object({
  headers: Type.Optional(Headers),
  format: Type.Optional(Format),
  signing: Type.Optional(SigningKind),
  signing_key: Type.Optional(SigningKey),
  ...DeliverySettings,
});

/** The body of a rotation, which may go over to the other kind of signature. */
export const NewKey = Type.Object({
  signing: Type.Optional(SigningKind),
  signing_key: Type.Optional(SigningKey),
});

/** Fields that are left out stay unchanged; null removes a value. */
export const WebhookChanges = Type.Object({
  url: Type.Optional(Url),
  name: Type.Optional(Type.Union([Name, Type.Null()])),
  description: Type.Optional(Type.Union([Description, Type.Null()])),
  active: Type.Optional(
    Type.Boolean({ description: "True also clears `disabled_reason` and `failing_since`." }),
  ),
  headers: Type.Optional(
    Type.Union([Headers, Type.Null()], { description: "Replaces all custom headers; null removes them." }),
  ),
  format: Type.Optional(Format),
  ...DeliverySettings,
});
export type WebhookChanges = Static<typeof WebhookChanges>;
