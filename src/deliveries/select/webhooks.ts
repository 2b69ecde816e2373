import { notFound } from "../../lib/errors.ts";
import { eventMs, firstIdAt } from "../../lib/ids.ts";
import { Deliveries } from "../../models/delivery.ts";
import { Issues } from "../../models/issue.ts";
import { Subscriptions } from "../../models/subscription.ts";
import { Webhooks } from "../../models/webhook.ts";
import type { Platform } from "../../platform.ts";
import { type DeliverySelector, MERGED, type SearchedWebhooks, type SearchScope } from "./selection.ts";

const MAX_WEBHOOKS = 10_000;

/** The ids that deliveries of an event have: each begins with the event's time. */
export const idsOfEvent = (eventId: string): { $gte: string; $lt: string } => ({
  $gte: firstIdAt("dlv", eventMs(eventId)),
  $lt: firstIdAt("dlv", eventMs(eventId) + 1),
});

/**
 * Returns the webhooks whose deliveries are searched: the one that is named or that has the issue, or those that the event or the subscription of the
 * search can have reached, or all of the account. Throws `not-found` for a webhook or an issue of none of the accounts.
 */
export async function webhooksOf(
  mongo: Platform["mongo"],
  { webhook_id, issue_id, event_id, subscription_id }: DeliverySelector,
  { owner, owners }: SearchScope,
): Promise<SearchedWebhooks> {
  const listenerId = issue_id === undefined ? undefined : await listenerOf(mongo, issue_id, owners);
  const wanted = webhook_id ?? listenerId;
  if (wanted !== undefined) {
    if (!(await Webhooks(mongo).exists({ _id: wanted, owner_id: { $in: owners } })))
      throw notFound("webhook");
    const first = listenerId === undefined || listenerId === wanted ? [wanted] : [];
    return { owner, first, hasMore: false, all: async () => first };
  }
  const reached =
    event_id !== undefined
      ? await reachedByEvent(mongo, event_id, owner)
      : subscription_id !== undefined
        ? await reachedBySubscription(mongo, subscription_id)
        : null;
  const read = async (most: number): Promise<string[]> => {
    const found = await Webhooks(mongo)
      .find({ owner_id: owner, ...(reached && { _id: { $in: reached } }) }, { _id: 1 })
      .sort({ _id: -1 })
      .limit(most)
      .lean();
    return found.map(({ _id }) => _id);
  };
  const some = await read(MERGED + 1);
  const hasMore = some.length > MERGED;
  let all: Promise<string[]> | undefined;
  return {
    owner,
    first: some.slice(0, MERGED),
    hasMore,
    all: () => {
      all ??= hasMore ? read(MAX_WEBHOOKS) : Promise.resolve(some);
      return all;
    },
  };
}

/** Returns which of these webhooks are searched, for rows that were found otherwise than by their webhooks. */
export async function searchedAmong(
  mongo: Platform["mongo"],
  { owner, first, hasMore }: SearchedWebhooks,
  ids: string[],
): Promise<Set<string>> {
  if (!hasMore) return new Set(first);
  const found = await Webhooks(mongo)
    .find({ _id: { $in: [...new Set(ids)] }, owner_id: owner }, { _id: 1 })
    .lean();
  return new Set(found.map(({ _id }) => _id));
}

/** Returns the listener of an issue. Throws `not-found` for an issue of none of the accounts. */
async function listenerOf(mongo: Platform["mongo"], issueId: string, owners: string[]): Promise<string> {
  const issue = await Issues(mongo)
    .findOne({ _id: issueId, owner_id: { $in: owners } }, { listener_id: 1 })
    .lean();
  if (!issue) throw notFound("issue");
  return issue.listener_id;
}

/** Reads the deliveries of one millisecond, those of other accounts too: an index of events would cost every delivery a write. */
async function reachedByEvent(mongo: Platform["mongo"], eventId: string, owner: string): Promise<string[]> {
  const found = await Deliveries(mongo)
    .find({ _id: idsOfEvent(eventId), owner_id: owner, event_id: eventId }, { webhook_id: 1 })
    .lean();
  return [...new Set(found.map(({ webhook_id }) => webhook_id))];
}

/** Of a subscription that was deleted, any webhook may have deliveries. It may be another account's, to a webhook of this one. */
async function reachedBySubscription(mongo: Platform["mongo"], id: string): Promise<string[] | null> {
  const found = await Subscriptions(mongo).findById(id, { listener_id: 1 }).lean();
  return found && [found.listener_id];
}
