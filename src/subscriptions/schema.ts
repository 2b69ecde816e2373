import { Type } from "typebox";

export const FilterSchema = Type.Record(Type.String(), Type.Unknown(), {
  description: "Only events that match are carried: paths to values or to operators (docs/filters.md).",
});

/** rest-api.md, section 2; `filter` is ours. */
export const SubscriptionSchema = Type.Object(
  {
    id: Type.String(),
    emitter_id: Type.String({
      description: "A workflow or source id, `p_*`, `dc_*`, or an organization's id.",
    }),
    listener_id: Type.String({ description: "A webhook (`wh_`), source (`dc_`) or workflow (`p_`) id." }),
    event_name: Type.String({ description: "Channel; empty for the default one." }),
    filter: Type.Optional(FilterSchema),
  },
  { title: "Subscription" },
);

export const AutoSubscriptionSchema = Type.Object(
  { id: Type.String(), listener_id: Type.String(), event_name: Type.String() },
  { title: "AutoSubscription" },
);

/** A custom channel, `$errors` or `$logs`; empty for the default channel. */
export const EventName = Type.String({
  maxLength: 128,
  pattern: "^(|\\$errors|\\$logs|[^$].*)$",
  description: "Channel: a custom one, `$errors` or `$logs`; empty or absent for the default channel.",
});
