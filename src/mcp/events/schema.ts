import { type Static, Type } from "typebox";
import { ShownOrgId } from "../../accounts/access.ts";
import { OrNull } from "../../lib/schemas.ts";

const SecondsOrNull = (description: string) => OrNull(Type.Integer(), description);

/** An agent's subscription as the API shows it (docs/rest-api.md#subscriptions-of-agents). */
export const McpSubscriptionView = Type.Object(
  {
    id: Type.String({ description: "`ms_…`; the `listener_id` of its deliveries." }),
    user_id: Type.String({ description: "Whose API key subscribed." }),
    org_id: ShownOrgId,
    key_id: Type.String({ description: "The API key that subscribed or refreshed last." }),
    client_name: OrNull(
      Type.String(),
      "What its client calls itself, or else its API key is called; null if neither says, or an earlier version stored it.",
    ),
    name: Type.String({ description: "For people, and in alerts: `agent X: source Y`." }),
    event_type: Type.String({ description: "As `events/list` names it." }),
    arguments: Type.Record(Type.String(), Type.Unknown(), { description: "What the agent subscribed with." }),
    callback_host: Type.String({
      description: "Host of its callback; the rest of the address may hold a secret of the agent's host.",
    }),
    active: Type.Boolean({ description: "False if every attempt failed for a day; a refresh enables it." }),
    disabled_reason: Type.Union([Type.String(), Type.Null()], { description: "Why it is not active." }),
    failing_since: SecondsOrNull("The first failure since the last success."),
    last_event_at: SecondsOrNull("The last event that it was to get."),
    last_success_at: SecondsOrNull("The last delivery."),
    last_error_at: SecondsOrNull("The last failed attempt."),
    expires_at: Type.Integer({ description: "It ends then unless the agent refreshes it." }),
    created_at: Type.Integer(),
    updated_at: Type.Integer({ description: "The last refresh, if there was one." }),
  },
  { title: "McpSubscription" },
);
export type McpSubscriptionView = Static<typeof McpSubscriptionView>;
