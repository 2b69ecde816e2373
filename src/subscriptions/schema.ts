import { Type } from "typebox";
import { LIMITS } from "../limits/catalogue.ts";
import { ANY_CHANNEL } from "../sandbox/child/channel-name.ts";

export const FilterSchema = Type.Record(Type.String(), Type.Unknown(), {
  description:
    "Only events that match are sent. Keys are paths into the event, with a value or an object of operators " +
    "(docs/filters.md).",
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
    emitter_id: Type.String({
      description: "Id of a workflow, source or organization, or `p_*` or `dc_*`.",
    }),
    listener_id: Type.String({
      description: "Id of a webhook (`wh_`), destination (`ds_`, `ac_`), source (`dc_`) or workflow (`p_`).",
    }),
    event_name: Type.String({ description: "Channel; empty for the default channel." }),
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
  maxLength: LIMITS.channelCharacters.value,
  pattern: ANY_CHANNEL,
  description: "Channel: a custom channel, `$errors` or `$logs`; empty or left out for the default channel.",
});
