import { headwater, type Schemas } from "./client";

/** What deliveries are made to: a webhook, or a destination. */
export type Listener = Schemas["Webhook"] | Schemas["Destination"];

export const isWebhook = (id: string): boolean => id.startsWith("wh_");

/** The calls that webhooks and destinations have in common, for the one with this id. */
export const callsOf = (id: string) => (isWebhook(id) ? headwater.webhooks : headwater.destinations);
