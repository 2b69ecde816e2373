import type { WebhookView } from "./schema.ts";

/** The webhook of the API's examples. */
export const exampleWebhook: WebhookView = {
  id: "wh_0CjBAEdF3kWq9RtZ",
  user_id: "u_0CjB8sXp1LmN4vYb",
  name: "orders",
  description: null,
  url: "https://example.com/hooks/orders",
  active: true,
  disabled_reason: null,
  failing_since: null,
  will_be_disabled_at: null,
  notice: null,
  max_in_flight: null,
  rate_limit_per_second: null,
  ordered: false,
  header_names: [],
  created_at: 1_700_000_000,
  updated_at: 1_700_000_000,
};
