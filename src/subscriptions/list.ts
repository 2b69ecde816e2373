import {
  type AutoSubscription,
  AutoSubscriptions,
  type Subscription,
  Subscriptions,
} from "../models/subscription.ts";
import type { Platform } from "../platform.ts";
import { type Page, type PageRequest, pageOf } from "../store/page.ts";

type Deps = Pick<Platform, "mongo">;

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
