import { invalidField, notFound } from "../lib/errors.ts";
import { isId, newId } from "../lib/ids.ts";
import { Sources } from "../models/source.ts";
import { AutoSubscriptions, type Subscription, Subscriptions } from "../models/subscription.ts";
import { Webhooks } from "../models/webhook.ts";
import { Workflows } from "../models/workflow.ts";
import type { Platform } from "../platform.ts";
import { isDuplicateKey } from "../store/mongo.ts";
import { checkFilter } from "./filter.ts";

type Deps = Pick<Platform, "mongo" | "clock">;
type Routing = Deps & Pick<Platform, "routing">;

/** For whom a subscription is made, and whose things it may name. */
export interface Subscriber {
  owner: string;
  owners: string[];
  userId: string;
}

export interface Wanted {
  emitterId: string;
  listenerId: string;
  eventName: string;
  /** Which events; unless given, the one of an existing subscription stays, and a new one wants all. */
  filter?: unknown;
}

async function owned(platform: Deps, id: string, owners: string[]): Promise<boolean> {
  const mine = { _id: id, owner_id: { $in: owners } };
  if (isId("dc", id)) return (await Sources(platform.mongo).exists({ ...mine, state: "ready" })) !== null;
  if (isId("p", id)) return (await Workflows(platform.mongo).exists(mine)) !== null;
  return isId("wh", id) && (await Webhooks(platform.mongo).exists(mine)) !== null;
}

async function checkEmitter(platform: Deps, id: string, owners: string[]): Promise<void> {
  if (id === "p_*" || id === "dc_*") return;
  if (isId("o", id)) {
    if (!owners.includes(id)) throw notFound("emitter");
    return;
  }
  if (!isId("dc", id) && !isId("p", id)) {
    throw invalidField(
      "query",
      "emitter_id",
      "must be a source or workflow id, p_*, dc_*, or an organization's id",
    );
  }
  if (!(await owned(platform, id, owners))) throw notFound("emitter");
}

async function checkListener(platform: Deps, id: string, owners: string[]): Promise<void> {
  if (!["dc", "p", "wh"].some(prefix => isId(prefix as "dc", id))) {
    throw invalidField("query", "listener_id", "must be the id of a webhook, source or workflow");
  }
  if (!(await owned(platform, id, owners))) throw notFound("listener");
}

/**
 * Subscribes a listener to an emitter's channel; the same subscription again answers the one there is, with the filter
 * it is given now. Throws `invalid`
 * for ids of a wrong kind, `not-found` for what none of the subscriber's owners has (rest-api.md, section 4.5).
 */
export async function subscribe(
  platform: Routing,
  { owner, owners, userId }: Subscriber,
  { emitterId, listenerId, eventName, filter }: Wanted,
): Promise<Subscription> {
  if (filter !== undefined) checkFilter(filter);
  await checkEmitter(platform, emitterId, owners);
  await checkListener(platform, listenerId, owners);
  const identity = { emitter_id: emitterId, event_name: eventName, owner_id: owner, listener_id: listenerId };
  const subscription: Subscription = {
    _id: newId("sub", platform.clock()),
    user_id: userId,
    filter: filter === undefined ? null : JSON.stringify(filter),
    ...identity,
    created_at: Math.floor(platform.clock() / 1000),
  };
  try {
    await Subscriptions(platform.mongo).insertOne(subscription);
    await platform.routing.invalidate();
    return subscription;
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    const existing = await Subscriptions(platform.mongo)
      .findOneAndUpdate(identity, filter === undefined ? {} : { $set: { filter: subscription.filter } }, {
        returnDocument: "after",
      })
      .lean();
    await platform.routing.invalidate();
    return existing ?? subscription;
  }
}

/** Ends a subscription: the subscriber's own before another one it reaches. Throws `not-found` when there is none. */
export async function unsubscribe(
  platform: Routing,
  { owner, owners }: Subscriber,
  { emitterId, listenerId, eventName }: Wanted,
): Promise<void> {
  for (const owner_id of [owner, { $in: owners }]) {
    const { deletedCount } = await Subscriptions(platform.mongo).deleteOne({
      emitter_id: emitterId,
      event_name: eventName,
      owner_id,
      listener_id: listenerId,
    });
    if (deletedCount === 0) continue;
    await platform.routing.invalidate();
    return;
  }
  throw notFound("subscription");
}

/** Subscribes a listener to the errors or logs of workflows and sources created from now on; idempotent. */
export async function autoSubscribe(
  platform: Deps,
  { owner, owners, userId }: Subscriber,
  { listenerId, eventName }: Omit<Wanted, "emitterId">,
) {
  await checkListener(platform, listenerId, owners);
  const identity = { owner_id: owner, listener_id: listenerId, event_name: eventName };
  const wanted = {
    _id: newId("asub", platform.clock()),
    user_id: userId,
    ...identity,
    created_at: Math.floor(platform.clock() / 1000),
  };
  try {
    await AutoSubscriptions(platform.mongo).insertOne(wanted);
    return wanted;
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    return (await AutoSubscriptions(platform.mongo).findOne(identity).lean()) ?? wanted;
  }
}

/** All subscriptions of an account, newest first. */
export function listSubscriptions(platform: Deps, owner: string): Promise<Subscription[]> {
  return Subscriptions(platform.mongo).find({ owner_id: owner }).sort({ _id: -1 }).lean();
}
