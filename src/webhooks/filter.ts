import type { QueryFilter } from "mongoose";
import type { Webhook } from "../models/webhook.ts";
import { containing } from "../store/text-filter.ts";
import type { WebhookFilter } from "./schema.ts";

/** Each webhook is in one of them. */
const STATES: Record<NonNullable<WebhookFilter["state"]>, QueryFilter<Webhook>> = {
  active: { active: true, failing_since_ms: null },
  failing: { active: true, failing_since_ms: { $gt: 0 } },
  disabled: { active: false },
};

/** Returns what selects the webhooks, or destinations, of a list with these filters. */
export const filterOfWebhooks = ({ q, state }: Pick<WebhookFilter, "q" | "state">): QueryFilter<Webhook> => ({
  ...(state !== undefined && STATES[state]),
  ...(q !== undefined && containing<Webhook>(q, ["_id", "name", "url"])),
});
