import { type Static, Type } from "typebox";
import { ShownOrgId } from "../accounts/access.ts";
import { patternInWords } from "../lib/schemas.ts";
import { LIMITS } from "../limits/catalogue.ts";
import { SUBSCRIPTION_ORDERS } from "../models/subscription.ts";
import { ANY_CHANNEL } from "../sandbox/child/emit-metadata.ts";
import { type SortKey, sortParam } from "../store/order.ts";
import { Revision } from "../store/revisions.ts";
import { TextFilter } from "../store/text-filter.ts";

export const FilterSchema = Type.Record(Type.String(), Type.Unknown(), {
  description:
    "Only events that match are sent. Keys are paths into the event, with a value or an object of operators " +
    "(docs/filters.md).",
});

export const FunctionCode = Type.String({
  minLength: 1,
  maxLength: LIMITS.functionBytes.value,
  description:
    "JavaScript or TypeScript, `export default (event, meta) => event`: what is sent in place of each event; null drops it " +
    "(docs/functions.md).",
});

export const ListenerId = Type.String({
  minLength: 1,
  maxLength: 64,
  description: "Id of the receiving webhook, destination, source or workflow.",
});

/** A subscription as the API shows it (docs/rest-api.md#subscription). */
export const SubscriptionSchema = Type.Object(
  {
    id: Type.String(),
    org_id: ShownOrgId,
    emitter_id: Type.String({
      description:
        "Id of a workflow, source or organization, or `p_*` or `dc_*`; of an account for its alerts.",
    }),
    emitter_name: Type.Union([Type.String(), Type.Null()], {
      description:
        "Name of the emitter; null for a pattern, and for one of an account that you can't access.",
    }),
    listener_id: Type.String({
      description: "Id of a webhook (`wh_`), destination (`ds_`, `ac_`), source (`dc_`) or workflow (`p_`).",
    }),
    listener_name: Type.Union([Type.String(), Type.Null()], {
      description: "Name of the listener; null without one, and for one of an account that you can't access.",
    }),
    event_name: Type.String({ description: "Channel; empty for the default channel." }),
    filter: Type.Optional(FilterSchema),
    function: Type.Optional(
      Type.String({ description: "Code of the function that each event goes through; absent in lists." }),
    ),
    function_hash: Type.Optional(Type.String({ description: "SHA-256 of that code, hex." })),
    function_errors: Type.Optional(
      Type.Integer({ description: "Events that the function failed on since it was set." }),
    ),
    last_function_error: Type.Optional(
      Type.Object({
        message: Type.String(),
        line: Type.Union([Type.Integer(), Type.Null()], { description: "In the code, from 1." }),
        column: Type.Union([Type.Integer(), Type.Null()], { description: "From 1." }),
        event_id: Type.String(),
        at_ms: Type.Integer({ description: "Unix milliseconds." }),
        logs: Type.Array(Type.Object({ level: Type.String(), message: Type.String(), ts: Type.Integer() }), {
          description: "What it wrote to `console` for that event, up to 4 KB.",
        }),
      }),
    ),
    revision: Revision,
  },
  { title: "Subscription" },
);

/** By what a list of subscriptions may be sorted. The last event of each would be a write for each event, so there is no such order. */
export const SUBSCRIPTION_KEYS = {
  emitter: { field: "emitter_id", isMoment: false, index: SUBSCRIPTION_ORDERS.emitter },
  listener: { field: "listener_id", isMoment: false, index: SUBSCRIPTION_ORDERS.listener },
  last_error: {
    field: "last_function_error.at_ms",
    isMoment: true,
    index: SUBSCRIPTION_ORDERS.last_error,
  },
} as const satisfies Record<string, SortKey>;

/** What selects subscriptions of a list, and in which order. */
export const SubscriptionFilter = Type.Object({
  sort: sortParam(
    SUBSCRIPTION_KEYS,
    "`emitter`, `listener`: those of one together, kind by kind and the oldest first; `last_error`: the latest error of a function " +
      "first, and last those without one",
  ),
  q: TextFilter("the name, address or id of what they connect, or at the beginning of their own id"),
  emitter_id: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description: "Only those that name this emitter: an id, `p_*` or `dc_*`.",
    }),
  ),
  listener_id: Type.Optional(
    Type.String({ minLength: 1, maxLength: 64, description: "Only those of this listener." }),
  ),
});
export type SubscriptionFilter = Static<typeof SubscriptionFilter>;

/** What selects auto subscriptions of a list. */
export const AutoSubscriptionFilter = Type.Object({
  q: TextFilter("the name, address or id of their listener, or at the beginning of their own id"),
});
export type AutoSubscriptionFilter = Static<typeof AutoSubscriptionFilter>;

export const AutoSubscriptionSchema = Type.Object(
  {
    id: Type.String(),
    listener_id: Type.String(),
    event_name: Type.String(),
    function: Type.Optional(
      Type.String({
        description: "Code of the function of the subscriptions that it creates; absent in lists.",
      }),
    ),
    function_hash: Type.Optional(Type.String({ description: "SHA-256 of that code, hex." })),
  },
  { title: "AutoSubscription" },
);

/** A custom channel, `$errors`, `$logs` or `$alerts`; empty for the default channel. */
export const EventName = Type.String({
  maxLength: LIMITS.channelCharacters.value,
  pattern: patternInWords(
    `${ANY_CHANNEL}|^\\$alerts$`,
    "must be a channel: $errors, $logs, $alerts, or a text without control characters and without $ at its beginning",
  ),
  description:
    "Channel: a custom channel, `$errors`, `$logs`, or `$alerts` of an account; empty or left out for the default channel.",
});
