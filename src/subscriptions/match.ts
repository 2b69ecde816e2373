import { reachesByDirectory } from "../accounts/access.ts";
import { type Subscription, Subscriptions } from "../models/subscription.ts";
import type { Platform } from "../platform.ts";
import { matches } from "./filter.ts";

/** Who emits: a source or a workflow, and whose it is. */
export interface Emitter {
  id: string;
  owner_id: string;
}

export interface Match {
  subscriptions: Subscription[];
  /** How many more would have had it but for their filter. */
  filtered: number;
}

/** The pattern that means all emitters of this one's kind: `dc_*` for a source, `p_*` for a workflow. */
export function globOf(emitterId: string): "dc_*" | "p_*" {
  return emitterId.startsWith("p_") ? "p_*" : "dc_*";
}

/**
 * Every subscription to what this emitter emits on this channel: by its id, by the glob of its kind (of its own
 * account's), or by its organization's id (design.md, "REST decisions"). One whose owner no longer reaches the emitter
 * is left out.
 */
export async function findSubscriptions(
  platform: Pick<Platform, "mongo" | "directory">,
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
    reached.set(owner_id, await reachesByDirectory(platform, owner_id, emitter.owner_id));
  }
  return found.filter(({ owner_id }) => reached.get(owner_id));
}

/** Which of an emitter's subscriptions want this event: those without a filter, and those whose filter it matches. */
export function selectWanting(subscriptions: Subscription[], event: unknown): Match {
  const wanted = subscriptions.filter(({ filter }) => filter === null || matches(JSON.parse(filter), event));
  return { subscriptions: oncePerListener(wanted), filtered: subscriptions.length - wanted.length };
}

/** A listener that several subscriptions name gets an event once: the narrowest subscription carries it. */
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
