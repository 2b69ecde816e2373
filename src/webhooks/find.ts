import type { QueryFilter } from "mongoose";
import { notFound } from "../lib/errors.ts";
import { isId } from "../lib/ids.ts";
import { WEBHOOK_TEXTS, type Webhook, Webhooks } from "../models/webhook.ts";
import type { Stores } from "../platform.ts";
import { containing } from "../store/text-filter.ts";
import type { WebhookFilter } from "./schema.ts";

/** Returns a webhook, not a destination, of one of these owners, otherwise null (docs/design.md#guarantee-6). */
export async function findWebhook(platform: Stores, id: string, owners: string[]): Promise<Webhook | null> {
  if (!isId("wh", id)) return null;
  return await Webhooks(platform.mongo)
    .findOne({ _id: id, owner_id: { $in: owners } })
    .lean();
}

/** Throws `not-found` unless each of these is a webhook or a destination of one of these owners. */
export async function requireWebhooks(platform: Stores, ids: string[], owners: string[]): Promise<void> {
  const found = await Webhooks(platform.mongo).countDocuments({
    _id: { $in: ids },
    owner_id: { $in: owners },
  });
  if (found !== ids.length) throw notFound("webhook");
}

/** The access rule of routes whose path names a webhook. */
export const ownWebhook = { kind: "resource", what: "webhook", isRevised: true, load: findWebhook } as const;

/** Returns webhooks by their ids, from the routing cache: as they are now, or were a moment ago. Absent ones are left out. */
export function lookUpWebhooks(platform: Stores, ids: string[]): Promise<Map<string, Webhook>> {
  return platform.routing.lookUp(
    "webhook",
    ids,
    async missing => {
      const found = await Webhooks(platform.mongo)
        .find({ _id: { $in: missing } })
        .lean<Webhook[]>();
      return new Map(found.map(webhook => [webhook._id, webhook]));
    },
    ({ owner_id }) => [owner_id],
  );
}

/** Each webhook is in one of them. */
const STATES: Record<NonNullable<WebhookFilter["state"]>, QueryFilter<Webhook>> = {
  active: { active: true, failing_since_ms: null },
  failing: { active: true, failing_since_ms: { $gt: 0 } },
  disabled: { active: false },
};

/** Returns what selects the webhooks, or destinations, of a list with these filters. */
export const filterOfWebhooks = ({ q, state }: Pick<WebhookFilter, "q" | "state">): QueryFilter<Webhook> => ({
  ...(state !== undefined && STATES[state]),
  ...(q !== undefined && containing<Webhook>(q, WEBHOOK_TEXTS)),
});
