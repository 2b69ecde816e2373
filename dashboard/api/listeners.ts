import { headwater, type Schemas } from "./client";

/** What deliveries are made to: a webhook, or a destination. */
export type Listener = Schemas["Webhook"] | Schemas["Destination"];

export const isWebhook = (id: string): boolean => id.startsWith("wh_");

/** What an agent subscribed to: its callback gets the deliveries. */
export const isAgents = (id: string): boolean => id.startsWith("ms_");

/** What a listener is called. */
export function nounOf(id: string): string {
  if (isAgents(id)) return "Agent";
  return isWebhook(id) ? "Webhook" : "Destination";
}

/** The calls that webhooks and destinations have in common, for the one with this id. */
export const callsOf = (id: string) => (isWebhook(id) ? headwater.webhooks : headwater.destinations);
