import { LRUCache } from "lru-cache";
import { canAccessCached } from "../accounts/access.ts";
import { ALERTS } from "../alerts/raise.ts";
import { Breaks } from "../fairness/thread.ts";
import type { JsonText } from "../lib/json-text.ts";
import { type Subscription, Subscriptions } from "../models/subscription.ts";
import type { Stores } from "../platform.ts";
import { compileFilter, type Filter, type Matcher } from "./filter.ts";

/** A source or a workflow, with the account that owns it; or an account, which emits its own alerts. */
export interface Emitter {
  id: string;
  owner_id: string;
  /** A source that is being created or deleted, which does not exist for its owner. */
  isHidden?: true;
}

/**
 * Leaves out the listener that an alert is about: a failing webhook that listens to alerts would receive, and fail, its own
 * (docs/decisions/0043-alerts.md).
 */
export function withoutSubject(
  subscriptions: Subscription[],
  channel: string,
  event: JsonText,
): Subscription[] {
  if (channel !== ALERTS) return subscriptions;
  const subject = (event.value as { subject?: { id?: unknown } | null } | null)?.subject?.id;
  return subscriptions.filter(({ listener_id }) => listener_id !== subject);
}

export interface Matching {
  /** At most one per listener. */
  matched: Subscription[];
  /** The subscriptions with a filter that the event does not match. */
  filtered: Subscription[];
}

/** Returns the glob that matches every emitter of this one's kind: `dc_*` for a source, `p_*` for a workflow. */
export function globOf(emitterId: string): "dc_*" | "p_*" {
  return emitterId.startsWith("p_") ? "p_*" : "dc_*";
}

/**
 * Returns the subscriptions to a channel of this emitter: by its id, by the glob of its kind (in its own account), or
 * by the id of its organization (docs/design.md#subscriptions). A subscription is left out if its owner can no longer
 * access the emitter.
 */
export async function findSubscriptions(
  platform: Stores,
  emitter: Emitter,
  channel: string,
): Promise<Subscription[]> {
  const found = await Subscriptions(platform.mongo)
    .find({
      $or: [
        { emitter_id: emitter.id, event_name: channel },
        { emitter_id: globOf(emitter.id), event_name: channel, owner_id: emitter.owner_id },
        { emitter_id: emitter.owner_id, event_name: channel },
      ],
    })
    .lean();
  const hasAccess = new Map<string, boolean>();
  for (const { owner_id } of found) {
    if (hasAccess.has(owner_id)) continue;
    hasAccess.set(owner_id, await canAccessCached(platform, owner_id, emitter.owner_id));
  }
  return found.filter(({ owner_id }) => hasAccess.get(owner_id));
}

/**
 * Returns the subscriptions to an emitter on any channel whose owner is one of `owners`, newest first and at most `most`,
 * to explain why an event did or did not arrive.
 */
export async function findSubscriptionsToEmitter(
  platform: Stores,
  emitter: Emitter,
  owners: string[],
  most: number,
): Promise<Subscription[]> {
  // One query per owner: each reads the owner's index in order, and nothing is sorted in memory.
  const found = await Promise.all(
    owners.map(owner_id =>
      Subscriptions(platform.mongo)
        .find({ owner_id, emitter_id: { $in: [emitter.id, globOf(emitter.id), emitter.owner_id] } })
        .sort({ _id: -1 })
        // A glob is the emitter of every account's subscriptions.
        .hint({ owner_id: 1, _id: -1 })
        .limit(most)
        .lean(),
    ),
  );
  return found
    .flat()
    .sort((a, b) => (a._id < b._id ? 1 : -1))
    .slice(0, most);
}

/** Subscriptions matched between two breaks. */
const MATCHED_AT_ONCE = 100;

/**
 * Selects the subscriptions that match an event: those without a filter, and those with a filter that it matches. With
 * breaks, because an emitter may have 100,000 subscriptions. The event is parsed only for a filter.
 */
export async function selectMatching(
  subscriptions: Subscription[],
  event: JsonText,
  breaks = new Breaks(),
): Promise<Matching> {
  const matched: Subscription[] = [];
  const filtered: Subscription[] = [];
  for (const [i, subscription] of subscriptions.entries()) {
    if (i % MATCHED_AT_ONCE === 0) await breaks.next();
    const { filter } = subscription;
    const isMatch = filter === null || matcherOf(filter)(event.value);
    (isMatch ? matched : filtered).push(subscription);
  }
  return { matched: oncePerListener(matched), filtered };
}

/** The matchers of filters by their JSON: to parse and compile one costs many times as much as to match an event. */
const matchers = new LRUCache<string, Matcher>({
  maxSize: 2 * 1024 * 1024,
  sizeCalculation: (_, json) => json.length,
});

function matcherOf(json: string): Matcher {
  const known = matchers.get(json);
  if (known) return known;
  const matcher = compileFilter(JSON.parse(json) as Filter);
  matchers.set(json, matcher);
  return matcher;
}

/** Keeps one subscription per listener, so that it receives an event once; one by the id of the emitter comes first. */
function oncePerListener(subscriptions: Subscription[]): Subscription[] {
  const byListener = new Map<string, Subscription>();
  const width = (subscription: Subscription) => (/^(dc|p)_[^*]/.test(subscription.emitter_id) ? 0 : 1);
  for (const subscription of subscriptions) {
    const earlier = byListener.get(subscription.listener_id);
    if (!earlier || width(subscription) < width(earlier)) {
      byListener.set(subscription.listener_id, subscription);
    }
  }
  return [...byListener.values()];
}
