import type { QueryFilter } from "mongoose";
import { ALERTS, isAccountId } from "../alerts/raise.ts";
import { SOURCE_TEXTS, type Source, Sources } from "../models/source.ts";
import {
  type AutoSubscription,
  AutoSubscriptions,
  type Subscription,
  Subscriptions,
} from "../models/subscription.ts";
import { NOT_MCP_IDS, WEBHOOK_TEXTS, type Webhook, Webhooks } from "../models/webhook.ts";
import { WORKFLOW_TEXTS, type Workflow, Workflows } from "../models/workflow.ts";
import type { Stores } from "../platform.ts";
import { countCacheOf, type Page, type PageRequest, pageOf } from "../store/page.ts";
import { beginningWith, containing } from "../store/text-filter.ts";
import { checkEmitter, checkListener } from "./find.ts";
import { type AutoSubscriptionFilter, SUBSCRIPTION_KEYS, type SubscriptionFilter } from "./schema.ts";

/** The account whose subscriptions are listed, and those whose things the caller can read. */
interface Scope {
  owner: string;
  owners: string[];
}

/**
 * Returns a page of an account's subscriptions, newest first unless they are sorted. Throws `invalid` for a filter by what can't be an emitter or a listener,
 * and `not-found` for one that is none of the accounts'.
 */
export async function listSubscriptions(
  platform: Stores,
  { owner, owners }: Scope,
  { q, emitter_id, listener_id, sort }: SubscriptionFilter,
  page: PageRequest,
): Promise<Page<Subscription>> {
  await Promise.all([
    emitter_id !== undefined && checkEmitter(platform, emitter_id, channelOf(emitter_id), owners),
    listener_id !== undefined && checkListener(platform, listener_id, owners),
  ]);
  const subscriptions: QueryFilter<Subscription> = {
    owner_id: owner,
    ...(emitter_id !== undefined && { emitter_id }),
    ...(listener_id !== undefined && { listener_id }),
    ...(q !== undefined && (await connecting(platform, owners, q))),
  };
  return await pageOf(Subscriptions(platform.mongo), subscriptions, page, {
    countCache: countCacheOf(platform, owner, "subscriptions", { q, emitter_id, listener_id }),
    order: sort && { ownerId: owner, ...SUBSCRIPTION_KEYS[sort] },
  });
}

/** An account is an emitter of its alerts only. */
const channelOf = (emitterId: string): string => (isAccountId(emitterId) ? ALERTS : "");

/** Returns a page of an account's auto subscriptions, newest first. */
export async function listAutoSubscriptions(
  platform: Stores,
  { owner, owners }: Scope,
  { q }: AutoSubscriptionFilter,
  page: PageRequest,
): Promise<Page<AutoSubscription>> {
  const listenedBy = async (text: string) => {
    const ids = (await findThings(platform, owners, text)).flat();
    return { $or: [{ listener_id: { $in: ids } }, { _id: beginningWith(text) }] };
  };
  const autoSubscriptions = { owner_id: owner, ...(q !== undefined && (await listenedBy(q))) };
  return await pageOf(AutoSubscriptions(platform.mongo), autoSubscriptions, page);
}

/**
 * Returns a filter for the subscriptions that connect things with this text. Things are found by their text first, because an
 * account has ten times as many subscriptions, whose indexes lead from things to them.
 */
async function connecting(
  platform: Stores,
  owners: string[],
  text: string,
): Promise<QueryFilter<Subscription>> {
  const [emitters, receivers] = await findThings(platform, owners, text);
  return {
    $or: [
      { emitter_id: { $in: emitters } },
      { listener_id: { $in: [...emitters, ...receivers] } },
      { _id: beginningWith(text) },
    ],
  };
}

/** No account has more of a kind, unless its operator allows it (docs/limits.md); the rest is not found. */
const MOST = 10_000;

/**
 * Returns the ids of these accounts' sources and workflows, and of their webhooks and destinations, with a text in name, address or id.
 * An agent's callback is not looked through: readers of the subscription may not learn its path.
 */
async function findThings(
  { mongo }: Stores,
  owners: string[],
  text: string,
): Promise<[emitters: string[], receivers: string[]]> {
  const owned = { owner_id: { $in: owners } };
  const [sources, workflows, webhooks] = await Promise.all([
    Sources(mongo)
      .find({ ...owned, state: "ready", ...containing<Source>(text, SOURCE_TEXTS) }, { _id: 1 })
      .limit(MOST)
      .lean(),
    Workflows(mongo)
      .find({ ...owned, ...containing<Workflow>(text, WORKFLOW_TEXTS) }, { _id: 1 })
      .limit(MOST)
      .lean(),
    Webhooks(mongo)
      .find({ ...owned, _id: NOT_MCP_IDS, ...containing<Webhook>(text, WEBHOOK_TEXTS) }, { _id: 1 })
      .limit(MOST)
      .lean(),
  ]);
  const idOf = ({ _id }: { _id: string }) => _id;
  return [[...sources.map(idOf), ...workflows.map(idOf)], webhooks.map(idOf)];
}
