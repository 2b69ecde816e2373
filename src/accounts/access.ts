import { Memberships } from "../models/organization.ts";
import { ApiKeys } from "../models/user.ts";
import type { Platform } from "../platform.ts";
import { findLiveSession } from "./sessions/authenticate.ts";

/** Returns true if the account is the owner itself, or a user who is a member of the owning organization. */
export async function canAccess(
  platform: Pick<Platform, "mongo">,
  userOrOrgId: string,
  ownerId: string,
): Promise<boolean> {
  if (userOrOrgId === ownerId) return true;
  return (await Memberships(platform.mongo).exists({ _id: `${ownerId}-${userOrOrgId}` })) !== null;
}

/** Like `canAccess`, but cached in the routing cache, for checks that are made for every event. */
export async function canAccessCached(
  platform: Pick<Platform, "mongo" | "routing">,
  userOrOrgId: string,
  ownerId: string,
): Promise<boolean> {
  if (userOrOrgId === ownerId) return true;
  const key = `${ownerId}-${userOrOrgId}`;
  const found = await platform.routing.lookUp(
    "access",
    [key],
    async () => {
      const isMember = await canAccess(platform, userOrOrgId, ownerId);
      return new Map([[key, isMember]]);
    },
    () => [ownerId],
  );
  return found.get(key) ?? false;
}

/** The accounts that a subscription connects. */
export interface Connected {
  /** The owner of the subscription. */
  subscriber: string;
  /** The owner of the emitter. */
  emitter: string;
  /** The owner of the listener. */
  listener: string;
}

/** A subscription carries events only while both are true (docs/design.md#guarantee-6). */
export interface SubscriberAccess {
  canReadEmitter: boolean;
  canUseListener: boolean;
}

/**
 * Returns what the owner of a subscription can access, for the moment at which an event that was let through earlier is used.
 * From the routing cache, which the caller has refreshed.
 */
export async function subscriberAccess(
  platform: Pick<Platform, "mongo" | "routing">,
  { subscriber, emitter, listener }: Connected,
): Promise<SubscriberAccess> {
  return {
    canReadEmitter: subscriber === emitter || (await canAccessCached(platform, subscriber, emitter)),
    canUseListener: subscriber === listener || (await canAccessCached(platform, subscriber, listener)),
  };
}

/** As `subscriberAccess`, for callers that have not refreshed the cache; between things of one account it asks nothing. */
export async function subscriberAccessNow(
  platform: Pick<Platform, "mongo" | "routing">,
  connected: Connected,
): Promise<SubscriberAccess> {
  const { subscriber, emitter, listener } = connected;
  if (subscriber !== emitter || subscriber !== listener) await platform.routing.refresh();
  return await subscriberAccess(platform, connected);
}

type Deps = Pick<Platform, "mongo" | "clock">;

/** Why a key or a session gives no access to an account's resources any more. */
export type AccessLost = "key-revoked" | "session-ended" | "access-lost";

/**
 * Returns why the credential of a caller gives no access to what an account owns; null if it does. `keyId` is that of the
 * caller: an API key or a session.
 */
export async function accessLost(platform: Deps, keyId: string, ownerId: string): Promise<AccessLost | null> {
  const isSession = keyId.startsWith("ses_");
  const userId = isSession
    ? (await findLiveSession(platform, keyId))?.user_id
    : (await ApiKeys(platform.mongo).findOne({ _id: keyId, revoked_at: null }).lean())?.user_id;
  if (userId === undefined) return isSession ? "session-ended" : "key-revoked";
  return (await canAccess(platform, userId, ownerId)) ? null : "access-lost";
}
