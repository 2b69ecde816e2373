import { canAccessCached } from "../accounts/access.ts";
import { type Subscription, Subscriptions } from "../models/subscription.ts";
import type { Platform } from "../platform.ts";
import { matches } from "./filter.ts";

/** Who emits: a source or a workflow, and whose it is. */
export interface Emitter {
  id: string;
  owner_id: string;
}

export interface Matching {
  /** One for each listener. */
  matched: Subscription[];
  /** Those whose filter the event does not match. */
  filtered: Subscription[];
}

/** Returns the glob that matches every emitter of this one's kind: `dc_*` for a source, `p_*` for a workflow. */
export function globOf(emitterId: string): "dc_*" | "p_*" {
  return emitterId.startsWith("p_") ? "p_*" : "dc_*";
}

/**
 * Returns every subscription to this emitter's channel: by its id, by the glob of its kind (in its own account), or by its
 * organization's id (docs/design.md#subscriptions). A subscription whose owner lost access to the emitter is left out.
 */
export async function findSubscriptions(
  platform: Pick<Platform, "mongo" | "routing">,
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
  const reached = new Map<string, boolean>();
  for (const { owner_id } of found) {
    if (reached.has(owner_id)) continue;
    reached.set(owner_id, await canAccessCached(platform, owner_id, emitter.owner_id));
  }
  return found.filter(({ owner_id }) => reached.get(owner_id));
}

/**
 * Returns the subscriptions to an emitter on any channel whose owner is one of `owners`, newest first and at most `most`,
 * for whoever asks why an event did or did not arrive.
 */
export async function findSubscriptionsToEmitter(
  platform: Pick<Platform, "mongo">,
  emitter: Emitter,
  owners: string[],
  most: number,
): Promise<Subscription[]> {
  return await Subscriptions(platform.mongo)
    .find({
      owner_id: { $in: owners },
      emitter_id: { $in: [emitter.id, globOf(emitter.id), emitter.owner_id] },
    })
    .sort({ _id: -1 })
    .limit(most)
    .lean();
}

/** Splits an emitter's subscriptions into those that match an event, by their filter or for want of one, and the others. */
export function selectMatching(subscriptions: Subscription[], event: unknown): Matching {
  const matched: Subscription[] = [];
  const filtered: Subscription[] = [];
  for (const subscription of subscriptions) {
    const { filter } = subscription;
    const isMatch = filter === null || matches(JSON.parse(filter), event);
    (isMatch ? matched : filtered).push(subscription);
  }
  return { matched: oncePerListener(matched), filtered };
}

/** A listener with several matching subscriptions receives an event once: the narrowest subscription carries it. */
function oncePerListener(subscriptions: Subscription[]): Subscription[] {
  const byListener = new Map<string, Subscription>();
  const width = (subscription: Subscription) => (/^(dc|p)_[^*]/.test(subscription.emitter_id) ? 0 : 1);
  for (const subscription of subscriptions) {
    const earlier = byListener.get(subscription.listener_id);
    if (!earlier || width(subscription) < width(earlier))
      byListener.set(subscription.listener_id, subscription);
  }
  return [...byListener.values()];
}
