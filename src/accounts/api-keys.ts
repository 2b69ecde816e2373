import { createHash } from "node:crypto";
import { recordOfOperator } from "../audit/record.ts";
import type { Caller } from "../http/route.ts";
import { notFound } from "../lib/errors.ts";
import { isSecretOf, newId, newSecret, newToken } from "../lib/ids.ts";
import type { KeyAccess, KeyKind } from "../lib/key-access.ts";
import { unixSeconds } from "../lib/time.ts";
import { Sessions } from "../models/session.ts";
import { type ApiKey, ApiKeys, Users } from "../models/user.ts";
import type { Stores } from "../platform.ts";
import { rolesOf } from "./roles.ts";

/** A new random API key. `hw_` lets secret scanners tell our keys from other random text. */
const newApiKey = () => `hw_${newToken()}`;

/** Returns the hash of an API key, as it is stored (docs/design.md#stores). */
export const hashOf = (apiKey: string) => createHash("sha256").update(apiKey).digest("hex");

/** Returns true if a text has the shape of the token of a connector URL. */
export const isConnectorToken = (text: string): boolean => isSecretOf("hwc", text);

/**
 * Returns the text under which the token of a connector URL is stored and looked up. A bearer key has another one, so that neither is
 * ever found in the other's place, and a release before connector URLs finds none.
 */
export const hashOfConnectorToken = (token: string): string => `connector:${hashOf(token)}`;

/** Characters of a key that lists show: enough to recognize it, while 28 unknown ones are left. */
const PREFIX_CHARS = 7;

/** How a key was made. */
export type KeyOrigin = Pick<ApiKey, "made_with" | "ends_with_provider">;

/** What a key may do of what its user may, and until when; all of it and for ever by default. */
export interface KeyLimits {
  access?: KeyAccess;
  /** The emitters to which it may publish; needs the access `publish`. */
  emitterIds?: string[] | undefined;
  /** Unix seconds. */
  expiresAt?: number | undefined;
}

const isLimited = ({ access, expires_at }: Pick<ApiKey, "access" | "expires_at">): boolean =>
  access !== undefined || expires_at !== undefined;

/**
 * Returns the text under which a limited key is stored. A release before limited keys looks for the hash alone and finds none, so that
 * after a roll-back they are rejected instead of being keys that may do everything for ever.
 */
const limitedHash = (hash: string): string => `limited:${hash}`;
const storedHash = (apiKey: string, limits: Pick<ApiKey, "access" | "expires_at">): string =>
  isLimited(limits) ? limitedHash(hashOf(apiKey)) : hashOf(apiKey);
const plainHash = (stored: string): string => stored.replace(/^limited:/, "");

interface KeyOptions {
  origin?: KeyOrigin;
  limits?: KeyLimits;
  kind?: KeyKind;
}

/** Returns what is stored of a key's text. One of a consent has none: its tokens have records of their own. */
function textOf(
  kind: KeyKind,
  id: string,
  apiKey: string,
  limits: Pick<ApiKey, "access" | "expires_at">,
): Pick<ApiKey, "kind" | "hash" | "prefix"> {
  const prefix = apiKey.slice(0, PREFIX_CHARS);
  if (kind === "key") return { hash: storedHash(apiKey, limits), prefix };
  if (kind === "connector_url") return { kind, hash: hashOfConnectorToken(apiKey), prefix };
  return { kind, hash: `oauth:${id}` };
}

/** Returns a new API key of a user, as it is stored, and its text, which is not. Without an `origin` the operator makes it. */
export function newKey(
  platform: Stores,
  userId: string,
  name: string | null,
  { origin = {}, limits = {}, kind = "key" }: KeyOptions = {},
): { key: ApiKey; apiKey: string } {
  const id = newId("key", platform.clock());
  const apiKey = kind === "key" ? newApiKey() : newSecret("hwc");
  const { access = "full", emitterIds, expiresAt } = limits;
  const stored = {
    ...(access !== "full" && { access }),
    ...(emitterIds && { emitter_ids: emitterIds }),
    ...(expiresAt !== undefined && { expires_at: expiresAt }),
  };
  const key: ApiKey = {
    _id: id,
    user_id: userId,
    ...textOf(kind, id, apiKey, stored),
    name,
    ...origin,
    ...stored,
    created_at: unixSeconds(platform.clock()),
    revoked_at: null,
  };
  return { key, apiKey };
}

/** For the operator: creates another API key for a user and returns it; it can never be shown again. Throws `not-found`. */
export async function createApiKey(
  platform: Stores,
  userId: string,
): Promise<{ id: string; api_key: string }> {
  if (!(await Users(platform.mongo).exists({ _id: userId }))) throw notFound("user");
  const { key, apiKey } = newKey(platform, userId, null);
  await ApiKeys(platform.mongo).insertOne(key);
  await recordOfOperator(platform, { action: "api_key.created", ...inLogOfUser(key) });
  return { id: key._id, api_key: apiKey };
}

const inLogOfUser = ({ _id: id, user_id, name = null }: ApiKey) => ({ thing: { id, name }, of: [user_id] });

/** Returns a user's API keys with how and when each was made, and limits if it has some, newest first. Throws `not-found` for the user. */
export async function listApiKeys(platform: Stores, userId: string) {
  if (!(await Users(platform.mongo).exists({ _id: userId }))) throw notFound("user");
  const keys = await ApiKeys(platform.mongo).find({ user_id: userId }).sort({ _id: -1 }).lean();
  return keys.map(key => ({
    id: key._id,
    ...presentOrigin(key),
    ...((isLimited(key) || key.kind) && presentLimits(key)),
    created_at: key.created_at,
    revoked_at: key.revoked_at,
  }));
}

/** How a key was made, as lists show it. */
export const presentOrigin = ({ made_with, ends_with_provider }: KeyOrigin) => ({
  made_with: made_with ?? null,
  ends_with_provider: ends_with_provider ?? false,
});

/** What a key is, what it may do, and until when, as lists show it. */
export const presentLimits = ({ kind, access, emitter_ids, expires_at }: ApiKey) => ({
  kind: kind ?? ("key" as const),
  access: access ?? ("full" as const),
  emitter_ids: emitter_ids ?? null,
  expires_at: expires_at ?? null,
});

/** Returns true if a key has ended by itself. */
export const hasExpired = ({ clock }: Stores, { expires_at }: Pick<ApiKey, "expires_at">): boolean =>
  expires_at !== undefined && expires_at * 1000 <= clock();

/** Returns the filter of keys that are neither revoked nor expired. */
export const stillValid = ({ clock }: Stores) => ({
  revoked_at: null,
  $or: [{ expires_at: null }, { expires_at: { $gt: clock() / 1000 } }],
});

/**
 * Revokes a user's keys that end with the provider's word, and ends the sessions that were started with them. Returns how many
 * keys there were. The caller invalidates the user's part of the routing cache.
 */
export async function revokeProviderKeys(platform: Stores, userId: string): Promise<number> {
  const keys = ApiKeys(platform.mongo);
  const ending = { user_id: userId, ends_with_provider: true as const };
  const revoked_at = unixSeconds(platform.clock());
  // In one step, so that a key that is being made is among them, or sees that what it was made with has ended.
  const { modifiedCount } = await keys.updateMany({ ...ending, revoked_at: null }, { $set: { revoked_at } });
  const ids = (await keys.find(ending, { _id: 1 }).lean()).map(({ _id }) => _id);
  await Sessions(platform.mongo).deleteMany({ key_id: { $in: ids } });
  return modifiedCount;
}

/**
 * Revokes an API key from now on, and ends the sessions that were started with it; revoking it again keeps the first time.
 * Returns the time in Unix seconds. Throws `not-found` for the key.
 */
export async function revokeApiKey(
  platform: Stores,
  keyId: string,
): Promise<{ id: string; revoked_at: number }> {
  const { revoked_at } = await revoke(platform, keyId);
  return { id: keyId, revoked_at };
}

/** As `revokeApiKey`, for the operator. */
export async function revokeAsOperator(
  platform: Stores,
  keyId: string,
): Promise<{ id: string; revoked_at: number }> {
  const key = await revoke(platform, keyId);
  await recordOfOperator(platform, { action: "api_key.revoked", ...inLogOfUser(key) });
  return { id: keyId, revoked_at: key.revoked_at };
}

async function revoke(platform: Stores, keyId: string): Promise<ApiKey & { revoked_at: number }> {
  const revoked_at = unixSeconds(platform.clock());
  const found = await ApiKeys(platform.mongo)
    .findOneAndUpdate({ _id: keyId }, [{ $set: { revoked_at: { $ifNull: ["$revoked_at", revoked_at] } } }], {
      returnDocument: "after",
      updatePipeline: true,
    })
    .lean<ApiKey | null>();
  if (!found) throw notFound("key");
  await Sessions(platform.mongo).deleteMany({ key_id: keyId });
  await platform.routing.invalidate([found.user_id]);
  return { ...found, revoked_at: found.revoked_at ?? revoked_at };
}

/** Returns true if a text has the shape of an API key; any other is unknown without a look-up. */
export const isApiKey = (text: string): boolean => /^hw_[0-9A-Za-z]{32}$/.test(text);

/** Returns the user of an API key (no other kind) with the user's organizations, also after it has expired; null for an unknown or revoked key. */
export async function findCaller(platform: Stores, apiKey: string): Promise<Caller | null> {
  const [caller = null] = await findKeyCallers(platform, [hashOf(apiKey)]);
  return caller;
}

/**
 * Returns the users of API keys, by the hashes of the keys, of any kind; null for one that is unknown or revoked. One that has expired is returned
 * with its end, so that its user is told so.
 */
export async function findKeyCallers(platform: Stores, hashes: string[]): Promise<(Caller | null)[]> {
  const keys = await ApiKeys(platform.mongo)
    .find({ hash: { $in: hashes.flatMap(hash => [hash, limitedHash(hash)]) }, revoked_at: null })
    .lean();
  const callerOf = await callersOf(platform, keys);
  const byHash = new Map(keys.map(({ _id, hash }) => [plainHash(hash), _id]));
  return hashes.map(hash => callerOf(byHash.get(hash) ?? ""));
}

/** Returns who uses each of these keys now, as a function of the key's id, and notes their use. */
export async function callersOf(platform: Stores, keys: ApiKey[]): Promise<(keyId: string) => Caller | null> {
  noteUse(platform, keys);
  const rolesOfUser = await rolesOf(platform, [...new Set(keys.map(key => key.user_id))]);
  const byId = new Map(keys.map(key => [key._id, key]));
  return keyId => {
    const key = byId.get(keyId);
    return key ? callerOfKey(key, rolesOfUser(key.user_id)) : null;
  };
}

function callerOfKey(key: ApiKey, roles: Caller["roles"]): Caller {
  const { _id, user_id, name = null, prefix = null, expires_at } = key;
  return {
    ...{ userId: user_id, keyId: _id, orgIds: Object.keys(roles), roles },
    key: { name, prefix, access: key.access ?? "full", emitterIds: key.emitter_ids ?? null },
    ...(expires_at !== undefined && { endsAtMs: expires_at * 1000 }),
  };
}

/** The last use of a key is written at most this often. */
const NOTED_EVERY_S = 60;

/** Not awaited: a request needs no record of itself. */
function noteUse(platform: Stores, keys: ApiKey[]): void {
  const now = unixSeconds(platform.clock());
  for (const { _id, last_used_at = 0, expires_at = now + 1 } of keys) {
    if (now - last_used_at < NOTED_EVERY_S || expires_at <= now) continue;
    ApiKeys(platform.mongo)
      .updateOne({ _id }, { $set: { last_used_at: now } })
      .catch(() => undefined);
  }
}
