import { Type } from "typebox";
import { AppError } from "../lib/errors.ts";
import { Memberships, membershipId } from "../models/organization.ts";
import { Sources } from "../models/source.ts";
import type { Subscription } from "../models/subscription.ts";
import { ApiKeys } from "../models/user.ts";
import { Workflows } from "../models/workflow.ts";
import type { Stores } from "../platform.ts";
import { hasExpired } from "./api-keys.ts";
import { findLiveSession } from "./sessions/authenticate.ts";

/** What a thing of an organization is needed for: to `read` it, which viewers may, or to `use` it, which changes something. */
type Access = "read" | "use";

async function accessOf({ mongo }: Stores, userOrOrgId: string, ownerId: string): Promise<Access | "none"> {
  if (userOrOrgId === ownerId) return "use";
  const membership = await Memberships(mongo)
    .findById(membershipId(ownerId, userOrOrgId), { role: 1 })
    .lean();
  if (!membership) return "none";
  return membership.role === "viewer" ? "read" : "use";
}

const allows = (access: Access | "none", needed: Access): boolean => access === "use" || access === needed;

/**
 * Returns true if the account is the owner itself, or a user who is a member of the owning organization; to `use` what it owns,
 * more than a viewer.
 */
export async function canAccess(
  platform: Stores,
  userOrOrgId: string,
  ownerId: string,
  needed: Access = "read",
): Promise<boolean> {
  return allows(await accessOf(platform, userOrOrgId, ownerId), needed);
}

/** Like `canAccess`, but cached in the routing cache, for checks that are made for every event. */
export async function canAccessCached(
  platform: Stores,
  userOrOrgId: string,
  ownerId: string,
  needed: Access = "read",
): Promise<boolean> {
  if (userOrOrgId === ownerId) return true;
  const key = membershipId(ownerId, userOrOrgId);
  const found = await platform.routing.lookUp(
    "access",
    [key],
    async () => new Map([[key, await accessOf(platform, userOrOrgId, ownerId)]]),
    () => [ownerId],
  );
  return allows(found.get(key) ?? "none", needed);
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
  platform: Stores,
  { subscriber, emitter, listener }: Connected,
): Promise<SubscriberAccess> {
  return {
    canReadEmitter: subscriber === emitter || (await canAccessCached(platform, subscriber, emitter)),
    canUseListener: subscriber === listener || (await canAccessCached(platform, subscriber, listener, "use")),
  };
}

/** As `subscriberAccess`, for callers that have not refreshed the cache; between things of one account it asks nothing. */
export async function subscriberAccessNow(platform: Stores, connected: Connected): Promise<SubscriberAccess> {
  const { subscriber, emitter, listener } = connected;
  if (subscriber !== emitter || subscriber !== listener) await platform.routing.refresh();
  return await subscriberAccess(platform, connected);
}

/** Why a key or a session gives no access to an account's resources any more. */
export type AccessLost = "key-revoked" | "key-expired" | "session-ended" | "access-lost";

/**
 * Returns why the credential of a caller gives no access to what an account owns; null if it does. `keyId` is that of the
 * caller: an API key or a session.
 */
export async function accessLost(
  platform: Stores,
  keyId: string,
  ownerId: string,
): Promise<AccessLost | null> {
  const lostBy = async (userId: string) =>
    (await canAccess(platform, userId, ownerId)) ? null : ("access-lost" as const);
  if (keyId.startsWith("ses_")) {
    const session = await findLiveSession(platform, keyId);
    return session ? await lostBy(session.user_id) : "session-ended";
  }
  const key = await ApiKeys(platform.mongo).findOne({ _id: keyId, revoked_at: null }).lean();
  if (!key) return "key-revoked";
  return hasExpired(platform, key) ? "key-expired" : await lostBy(key.user_id);
}

/** The field of what an account owns that names its organization (docs/rest-api.md#organizations). */
export const ShownOrgId = Type.Optional(
  Type.String({ description: "The organization that owns it; absent if the user does." }),
);

/** Returns the `org_id` of what this account owns, as responses show it: none for a user's. */
export const shownOrg = (ownerId: string): { org_id?: string } =>
  ownerId.startsWith("o_") ? { org_id: ownerId } : {};

/** What a name may mean. */
interface Named {
  _id: string;
  owner_id: string;
}

/** Things with one name that a `conflict` names; a user may be a member of very many organizations. */
export const MAX_NAMED = 10;

/**
 * Returns which of the things with one name is meant, or null if there is none: for a request that only `reads`, that of
 * the account of the request; otherwise the only one. Throws `conflict` that names each if there are several. A request
 * that changes something or runs code never guesses: it can't be taken back (docs/decisions/0048-whose-thing-a-name-means.md).
 */
export function meantBy<Thing extends Named>(
  name: string,
  found: Thing[],
  { account, reads }: { account: string | undefined; reads: boolean },
): Thing | null {
  const own = reads && found.find(({ owner_id }) => owner_id === account);
  if (own) return own;
  const [thing = null, ...others] = found;
  if (others.length === 0) return thing;
  const each = found.map(({ _id, owner_id }) => `${_id} of ${owner_id}`).join(", ");
  throw new AppError("conflict", `${name} means several: ${each}; use the id of one`);
}

/**
 * Returns the accounts whose events take another route when these subscriptions are made, changed or deleted: their owners,
 * and the owners of the emitters that they name, which may be another account, since a member of an organization
 * subscribes to its emitters (docs/decisions/0013-routing-cache.md).
 */
export async function accountsOfSubscriptions(
  platform: Stores,
  subscriptions: Pick<Subscription, "owner_id" | "emitter_id">[],
): Promise<string[]> {
  const named = subscriptions.map(({ emitter_id }) => emitter_id);
  const idsOf = (prefix: string) => named.filter(id => id.startsWith(prefix) && !id.endsWith("*"));
  const owners = await Promise.all([
    Sources(platform.mongo)
      .find({ _id: { $in: idsOf("dc_") } }, { owner_id: 1 })
      .lean(),
    Workflows(platform.mongo)
      .find({ _id: { $in: idsOf("p_") } }, { owner_id: 1 })
      .lean(),
  ]);
  return [
    ...new Set([
      ...subscriptions.map(({ owner_id }) => owner_id),
      ...named.filter(id => id.startsWith("o_")),
      ...owners.flat().map(({ owner_id }) => owner_id),
    ]),
  ];
}
