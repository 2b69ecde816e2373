import {
  type AutoSubscription,
  AutoSubscriptions,
  type Subscription,
  Subscriptions,
} from "../models/subscription.ts";
import type { Platform } from "../platform.ts";
import { type Page, type PageRequest, pageOf } from "../store/page.ts";

type Deps = Pick<Platform, "mongo">;

/** Returns a subscription of one of these owners, otherwise null (docs/design.md#guarantee-6). */
function findSubscription(platform: Deps, id: string, owners: string[]): Promise<Subscription | null> {
  return Subscriptions(platform.mongo)
    .findOne({ _id: id, owner_id: { $in: owners } })
    .lean();
}

/** Returns an auto subscription of one of these owners, otherwise null (docs/design.md#guarantee-6). */
function findAutoSubscription(
  platform: Deps,
  id: string,
  owners: string[],
): Promise<AutoSubscription | null> {
  return AutoSubscriptions(platform.mongo)
    .findOne({ _id: id, owner_id: { $in: owners } })
    .lean();
}

/** The access rule of routes whose path names a subscription. */
export const ownSubscription = { kind: "resource", what: "subscription", load: findSubscription } as const;

/** The access rule of routes whose path names an auto subscription. */
export const ownAutoSubscription = {
  kind: "resource",
  what: "auto subscription",
  load: findAutoSubscription,
} as const;

/** Returns a page of an account's subscriptions, newest first. */
export function listSubscriptions(
  platform: Deps,
  owner: string,
  page: PageRequest,
): Promise<Page<Subscription>> {
  return pageOf(Subscriptions(platform.mongo), { owner_id: owner }, page);
}

/** Returns a page of an account's auto subscriptions, newest first. */
export function listAutoSubscriptions(
  platform: Deps,
  owner: string,
  page: PageRequest,
): Promise<Page<AutoSubscription>> {
  return pageOf(AutoSubscriptions(platform.mongo), { owner_id: owner }, page);
}
