import { accountsOfSubscriptions } from "../accounts/access.ts";
import { checkCount, checkSubscriptionsPerEmitter } from "../accounts/limits.ts";
import { saveFunction } from "../functions/save-function.ts";
import { AppError, notFound } from "../lib/errors.ts";
import { newId } from "../lib/ids.ts";
import { unixSeconds } from "../lib/time.ts";
import { type Subscription, Subscriptions } from "../models/subscription.ts";
import type { Sandboxed, Stores } from "../platform.ts";
import { isDuplicateKey } from "../store/connections/mongo.ts";
import { deleteRevised, FIRST_REVISION, type Revised, writeRevision } from "../store/revisions.ts";
import { checkFilter } from "./filter.ts";
import { checkEmitter, checkListener, rejectWithoutDeliveries } from "./find.ts";

/** The account that a subscription is made for. */
export interface Subscriber {
  /** The account that owns the subscription. */
  owner: string;
  /** The accounts whose emitters and listeners it may name. */
  owners: string[];
  userId: string;
}

/** Identifies a subscription of an account. */
interface SubscriptionKey {
  emitterId: string;
  listenerId: string;
  /** Channel; empty for the default channel. */
  eventName: string;
}

export interface NewSubscription extends SubscriptionKey {
  /** Without it, an existing subscription keeps its filter, and a new one matches all events. */
  filter?: unknown;
  /**
   * Code of a function; null for none. Without it, an existing subscription keeps its function, and a new one has none.
   */
  code?: string | null | undefined;
  /** True for a listener that the caller has looked up, of a kind that no request may name. */
  isListenerKnown?: true;
}

/**
 * Subscribes a listener to a channel of an emitter. If the subscription exists, it is returned, with its filter
 * and its function replaced if there is a new one. Throws `invalid` for a malformed id or filter, or a function that can't be
 * used, `rate-limited` and `unavailable` while it can't be checked, `not-found` if none of the
 * subscriber's `owners` owns the emitter or the listener, and `limit-reached` (docs/rest-api.md#subscriptions).
 */
export async function subscribe(
  platform: Stores & Sandboxed,
  { owner, owners, userId }: Subscriber,
  { emitterId, listenerId, eventName, filter, code, isListenerKnown }: NewSubscription,
): Promise<Subscription> {
  if (filter !== undefined) checkFilter(filter);
  await checkEmitter(platform, emitterId, eventName, owners);
  if (!isListenerKnown) await checkListener(platform, listenerId, owners);
  if (typeof code === "string") rejectWithoutDeliveries(listenerId);
  const key = { emitter_id: emitterId, event_name: eventName, owner_id: owner, listener_id: listenerId };
  if (!(await Subscriptions(platform.mongo).exists(key))) {
    await checkCount(platform, owner, "subscriptions");
    await checkSubscriptionsPerEmitter(platform, owner, emitterId);
  }
  const functionHash = typeof code === "string" ? await saveFunction(platform, owner, code) : undefined;
  const subscription: Subscription = {
    _id: newId("sub", platform.clock()),
    user_id: userId,
    filter: filter === undefined ? null : JSON.stringify(filter),
    ...(functionHash !== undefined && { function_hash: functionHash }),
    ...key,
    created_at: unixSeconds(platform.clock()),
    revision: FIRST_REVISION,
  };
  try {
    await Subscriptions(platform.mongo).insertOne(subscription);
    await platform.routing.invalidate(await accountsOfSubscriptions(platform, [subscription]));
    return subscription;
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    const existing = await Subscriptions(platform.mongo).findOne(key).lean<Subscription | null>();
    if (!existing) return subscription;
    return await writeChanges(platform, existing, { filter, code, functionHash });
  }
}

/** What a request says of an existing subscription; what is undefined stays. */
interface Changes {
  /** A checked filter; null for none. */
  filter: unknown;
  /** Code of a function; null for none. */
  code: string | null | undefined;
  /** Of the code, if there is some. */
  functionHash: string | undefined;
}

/** Returns the update of a stored subscription. A function that is set counts its errors from then on. */
function changesOf({ filter, code, functionHash }: Changes) {
  const set = {
    ...(filter !== undefined && { filter: filter === null ? null : JSON.stringify(filter) }),
    ...(functionHash !== undefined && { function_hash: functionHash }),
  };
  const unset = {
    ...(code === null && { function_hash: 1 as const }),
    ...(code !== undefined && { function_errors: 1 as const, last_function_error: 1 as const }),
  };
  return {
    ...(Object.keys(set).length > 0 && { $set: set }),
    ...(Object.keys(unset).length > 0 && { $unset: unset }),
  };
}

/** What a request changes; null removes it, and what is left out stays. */
interface SubscriptionChanges {
  filter?: unknown;
  function?: string | null;
}

/**
 * Changes the filter and the function of a subscription, whichever account of the caller owns it, and returns it. A function
 * that is given, the same one too, counts its errors from now on. It is tried on the account that owns the subscription. Throws
 * `invalid` for a malformed filter and a function that can't be used, `rate-limited` and `unavailable` while it can't be checked,
 * and `not-found` if the subscription has been deleted since (docs/rest-api.md#subscriptions).
 */
export async function updateSubscription(
  platform: Stores & Sandboxed,
  subscription: Subscription,
  { filter, function: code }: SubscriptionChanges,
): Promise<Subscription> {
  if (filter !== undefined && filter !== null) checkFilter(filter);
  if (typeof code === "string") rejectWithoutDeliveries(subscription.listener_id);
  const functionHash =
    typeof code === "string" ? await saveFunction(platform, subscription.owner_id, code) : undefined;
  return await writeChanges(platform, subscription, { filter, code, functionHash });
}

/** Returns what changes make another of a stored subscription. A function that is given counts its errors from then on. */
function changedNames(stored: Subscription, { filter, code, functionHash }: Changes): string[] {
  const text = filter === null ? null : JSON.stringify(filter);
  const isOther = functionHash !== stored.function_hash || stored.function_errors !== undefined;
  return [
    ...(filter !== undefined && text !== stored.filter ? ["filter"] : []),
    ...(code !== undefined && isOther ? ["function"] : []),
  ];
}

/** Stores changes of a subscription as its next revision, and returns it. Throws `not-found`. */
async function writeChanges(platform: Stores, before: Subscription, changes: Changes): Promise<Subscription> {
  const { _id } = before;
  const { $set, ...update } = changesOf(changes);
  const written = await writeRevision(before, {
    what: "subscription",
    namesIn: latest => changedNames(latest, changes),
    read: () => Subscriptions(platform.mongo).findById(_id).lean<Subscription | null>(),
    write: (filter, revision) =>
      Subscriptions(platform.mongo)
        .findOneAndUpdate(
          { _id, ...filter },
          { ...update, $set: { ...$set, ...revision } },
          { returnDocument: "after" },
        )
        .lean<Subscription | null>(),
  });
  await platform.routing.invalidate(await accountsOfSubscriptions(platform, [written]));
  return written;
}

/**
 * Deletes a subscription. If both the subscriber's own account and one of its organizations have it, the subscriber's
 * own is deleted. Throws `conflict` if only several of its organizations have it, `not-found` if none of `owners` has
 * it.
 */
export async function unsubscribe(
  platform: Stores,
  { owner, owners }: Subscriber,
  { emitterId, listenerId, eventName }: SubscriptionKey,
): Promise<Owned> {
  const key = { emitter_id: emitterId, event_name: eventName, listener_id: listenerId };
  const found = await Subscriptions(platform.mongo)
    .find({ ...key, owner_id: { $in: owners } }, { owner_id: 1, emitter_id: 1 })
    .lean();
  const subscription = found.find(({ owner_id }) => owner_id === owner) ?? onlyOne(found);
  await deleteSubscription(platform, subscription);
  return subscription;
}

type Owned = Pick<Subscription, "_id" | "owner_id" | "emitter_id"> & Revised;

/** Deletes a subscription; no effect if it is deleted already. Throws `precondition-failed` as `deleteRevised` does. */
export async function deleteSubscription(platform: Stores, subscription: Owned): Promise<void> {
  const accounts = await accountsOfSubscriptions(platform, [subscription]);
  await deleteRevised(Subscriptions(platform.mongo), subscription);
  await platform.routing.invalidate(accounts);
}

function onlyOne([subscription, ...others]: Owned[]): Owned {
  if (!subscription) throw notFound("subscription");
  if (others.length === 0) return subscription;
  const owners = [subscription, ...others].map(({ owner_id }) => owner_id).join(", ");
  throw new AppError("conflict", `several organizations have this subscription: ${owners}; add org_id`);
}
