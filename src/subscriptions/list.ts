import { type Subscription, Subscriptions } from "../models/subscription.ts";
import type { Platform } from "../platform.ts";

/** Returns all subscriptions of an account, newest first. */
export function listSubscriptions(platform: Pick<Platform, "mongo">, owner: string): Promise<Subscription[]> {
  return Subscriptions(platform.mongo).find({ owner_id: owner }).sort({ _id: -1 }).lean();
}
