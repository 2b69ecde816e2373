import { ALERTS, isAccountId } from "../alerts/raise.ts";
import { FUNCTION_FIELD } from "../functions/find-function.ts";
import { invalidField, notFound } from "../lib/errors.ts";
import { isId } from "../lib/ids.ts";
import { Sources } from "../models/source.ts";
import {
  type AutoSubscription,
  AutoSubscriptions,
  type Subscription,
  Subscriptions,
} from "../models/subscription.ts";
import { receivesDeliveries, Webhooks } from "../models/webhook.ts";
import { Workflows } from "../models/workflow.ts";
import type { Stores } from "../platform.ts";

/** Returns a subscription of one of these owners, otherwise null (docs/design.md#guarantee-6). */
function findSubscription(platform: Stores, id: string, owners: string[]): Promise<Subscription | null> {
  return Subscriptions(platform.mongo)
    .findOne({ _id: id, owner_id: { $in: owners } })
    .lean();
}

/** Returns an auto subscription of one of these owners, otherwise null (docs/design.md#guarantee-6). */
function findAutoSubscription(
  platform: Stores,
  id: string,
  owners: string[],
): Promise<AutoSubscription | null> {
  return AutoSubscriptions(platform.mongo)
    .findOne({ _id: id, owner_id: { $in: owners } })
    .lean();
}

/** The access rule of routes whose path names a subscription. */
export const ownSubscription = {
  kind: "resource",
  what: "subscription",
  isRevised: true,
  load: findSubscription,
} as const;

/** The access rule of routes whose path names an auto subscription. */
export const ownAutoSubscription = {
  kind: "resource",
  what: "auto subscription",
  load: findAutoSubscription,
} as const;

const LISTENERS = ["dc", "p", "wh", "ds", "ac"] as const;

/** Returns true if one of these owners owns the source, workflow, webhook or destination. */
async function isOwned(platform: Stores, id: string, owners: string[]): Promise<boolean> {
  const filter = { _id: id, owner_id: { $in: owners } };
  if (isId("dc", id)) return (await Sources(platform.mongo).exists({ ...filter, state: "ready" })) !== null;
  if (isId("p", id)) return (await Workflows(platform.mongo).exists(filter)) !== null;
  return receivesDeliveries(id) && (await Webhooks(platform.mongo).exists(filter)) !== null;
}

/**
 * Checks the `emitter_id` of a subscription to a channel: a source, workflow or organization of these owners, or a glob; for
 * alerts an account of theirs. Throws `invalid` for any other kind of id, `not-found` if none of `owners` owns the emitter.
 */
export async function checkEmitter(
  platform: Stores,
  id: string,
  channel: string,
  owners: string[],
): Promise<void> {
  if (channel === ALERTS && !isAccountId(id)) {
    throw invalidField(
      "query",
      "emitter_id",
      `must be the id of an account, user or organization, for ${ALERTS}`,
    );
  }
  if (isId("u", id)) {
    if (channel !== ALERTS) throw invalidField("query", "event_name", `must be ${ALERTS} for an account`);
    if (!owners.includes(id)) throw notFound("emitter");
    return;
  }
  if (id === "p_*" || id === "dc_*") return;
  if (isId("o", id)) {
    if (!owners.includes(id)) throw notFound("emitter");
    return;
  }
  if (!isId("dc", id) && !isId("p", id)) {
    const message = "must be the id of a source, workflow or organization, or p_* or dc_*";
    throw invalidField("query", "emitter_id", message);
  }
  if (!(await isOwned(platform, id, owners))) throw notFound("emitter");
}

/**
 * Checks the `listener_id` of a subscription: a webhook, destination, source or workflow of these owners. Throws `invalid` for any
 * other kind of id, `not-found` if none of `owners` owns the listener.
 */
export async function checkListener(platform: Stores, id: string, owners: string[]): Promise<void> {
  if (!LISTENERS.some(prefix => isId(prefix, id))) {
    throw invalidField(
      "query",
      "listener_id",
      "must be the id of a webhook, destination, source or workflow",
    );
  }
  if (!(await isOwned(platform, id, owners))) throw notFound("listener");
}

/**
 * Throws `invalid` for a listener that can have no function: sources and workflows are handed the event itself, in the hop
 * before deliveries (docs/functions.md).
 */
export function rejectWithoutDeliveries(listenerId: string): void {
  if (!listenerId.startsWith("dc_") && !listenerId.startsWith("p_")) return;
  const message = "a source or a workflow receives events as they are: only deliveries go through a function";
  throw invalidField(FUNCTION_FIELD.in, FUNCTION_FIELD.path, message);
}

/**
 * Returns true if a subscription was deleted by its owner. A subscription that was deleted together with its source
 * does not count: the events that the source emitted before are still delivered (docs/design.md#guarantee-1).
 */
export async function isSubscriptionEnded(
  platform: Stores,
  { subscription_id, emitter_id }: { subscription_id: string; emitter_id: string },
): Promise<boolean> {
  if (await Subscriptions(platform.mongo).exists({ _id: subscription_id })) return false;
  // An account is not deleted.
  if (isAccountId(emitter_id)) return true;
  const emitter = emitter_id.startsWith("p_")
    ? await Workflows(platform.mongo).exists({ _id: emitter_id })
    : await Sources(platform.mongo).exists({ _id: emitter_id, state: "ready" });
  return emitter !== null;
}
