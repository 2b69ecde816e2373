import type { ClientSession } from "mongoose";
import { checkCount } from "../accounts/limits.ts";
import { saveFunction } from "../functions/save-function.ts";
import { newId } from "../lib/ids.ts";
import { unixSeconds } from "../lib/time.ts";
import { type AutoSubscription, AutoSubscriptions, Subscriptions } from "../models/subscription.ts";
import type { Sandboxed, Stores } from "../platform.ts";
import { isDuplicateKey } from "../store/connections/mongo.ts";
import { checkListener, rejectWithoutDeliveries } from "./find.ts";
import type { Emitter } from "./match.ts";
import type { NewSubscription, Subscriber } from "./subscribe.ts";

/**
 * Subscribes a listener to the errors or logs of all workflows and sources that the account creates from now on. If the
 * auto subscription exists, it is returned, with its function replaced if there is a new one (null: none), which
 * subscriptions get that are created from then on. Throws `invalid` or `not-found` for the listener, `limit-reached`, and as
 * `saveFunction` for a function that can't be used.
 */
export async function autoSubscribe(
  platform: Stores & Sandboxed,
  { owner, owners, userId }: Subscriber,
  { listenerId, eventName, code }: Pick<NewSubscription, "listenerId" | "eventName" | "code">,
): Promise<AutoSubscription> {
  await checkListener(platform, listenerId, owners);
  if (typeof code === "string") rejectWithoutDeliveries(listenerId);
  const key = { owner_id: owner, listener_id: listenerId, event_name: eventName };
  if (!(await AutoSubscriptions(platform.mongo).exists(key))) {
    await checkCount(platform, owner, "autoSubscriptions");
  }
  const functionHash = typeof code === "string" ? await saveFunction(platform, owner, code) : undefined;
  const withFunction = { ...(functionHash !== undefined && { function_hash: functionHash }) };
  const autoSubscription = {
    _id: newId("asub", platform.clock()),
    user_id: userId,
    ...key,
    ...withFunction,
    created_at: unixSeconds(platform.clock()),
  };
  try {
    await AutoSubscriptions(platform.mongo).insertOne(autoSubscription);
    return autoSubscription;
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    const change = { $set: withFunction, ...(code === null && { $unset: { function_hash: 1 as const } }) };
    const existing = await AutoSubscriptions(platform.mongo)
      .findOneAndUpdate(key, change, { returnDocument: "after" })
      .lean();
    return existing ?? autoSubscription;
  }
}

/** Deletes an auto subscription; the subscriptions that it has created stay. */
export async function deleteAutoSubscription(platform: Stores, { _id }: AutoSubscription): Promise<void> {
  await AutoSubscriptions(platform.mongo).deleteOne({ _id });
}

/**
 * Creates the subscriptions of a new workflow or source from the auto subscriptions of its account
 * (docs/rest-api.md#subscriptions). Runs in the transaction that creates the emitter, so that it never emits without
 * them.
 */
export async function subscribeNewEmitter(
  platform: Stores,
  emitter: Emitter,
  session: ClientSession,
): Promise<void> {
  const autoSubscriptions = await AutoSubscriptions(platform.mongo)
    .find({ owner_id: emitter.owner_id })
    .session(session)
    .lean();
  if (autoSubscriptions.length === 0) return;
  await Subscriptions(platform.mongo).insertMany(
    autoSubscriptions.map(({ owner_id, user_id, listener_id, event_name, function_hash }) => ({
      _id: newId("sub", platform.clock()),
      owner_id,
      user_id,
      emitter_id: emitter.id,
      listener_id,
      event_name,
      filter: null,
      ...(function_hash !== undefined && { function_hash }),
      created_at: unixSeconds(platform.clock()),
    })),
    { session },
  );
}
