import type { Caller } from "../http/route.ts";
import { AppError } from "../lib/errors.ts";
import { LIMITS } from "../limits/catalogue.ts";
import { type ApiKey, ApiKeys } from "../models/user.ts";
import type { Stores } from "../platform.ts";
import { type Page, type PageRequest, pageOf } from "../store/page.ts";
import { type KeyOrigin, newKey } from "./api-keys.ts";
import { findLiveSession } from "./sessions/authenticate.ts";

/** Returns a page of a user's API keys, revoked ones too, newest first. */
export function listOwnKeys(platform: Stores, userId: string, page: PageRequest): Promise<Page<ApiKey>> {
  return pageOf(ApiKeys(platform.mongo), { user_id: userId }, page);
}

/**
 * Creates an API key of a user, by a session or another key of theirs, and returns it with its text, which can't be shown again.
 * With `LIMITS.apiKeys` of them, revoked ones are no longer listed, the oldest first. Throws `limit-reached` if none of them
 * is revoked, and `unauthenticated` if the session or the key has ended.
 */
export async function createOwnKey(
  platform: Stores,
  { userId, keyId }: Pick<Caller, "userId" | "keyId">,
  name: string | null,
): Promise<{ key: ApiKey; apiKey: string }> {
  const most = LIMITS.apiKeys.value;
  const keys = ApiKeys(platform.mongo);
  const excess = (await keys.countDocuments({ user_id: userId })) - most + 1;
  if (excess > 0) {
    const revoked = await keys
      .find({ user_id: userId, revoked_at: { $ne: null } }, { _id: 1 })
      .sort({ _id: 1 })
      .limit(excess)
      .lean();
    if (revoked.length < excess) {
      throw new AppError("limit-reached", `a user has at most ${most} API keys: revoke one first`);
    }
    await keys.deleteMany({ _id: { $in: revoked.map(({ _id }) => _id) } });
  }
  const created = newKey(platform, userId, name, await originOf(platform, keyId));
  await keys.insertOne(created.key);
  try {
    // What ends the credential from now on finds the key; what ended it before may have missed it.
    await originOf(platform, keyId);
  } catch (error) {
    await keys.deleteOne({ _id: created.key._id });
    throw error;
  }
  return created;
}

/** How a key is made with this credential, a session or another key. Throws `unauthenticated` if it has ended by now. */
async function originOf(platform: Stores, credential: string): Promise<KeyOrigin> {
  const ended = () => new AppError("unauthenticated", "the key or the session has ended");
  let keyId = credential;
  if (credential.startsWith("ses_")) {
    const session = await findLiveSession(platform, credential);
    if (!session) throw ended();
    if (session.key_id === null) return { made_with: credential, ends_with_provider: true };
    keyId = session.key_id;
  }
  const key = await ApiKeys(platform.mongo).findOne({ _id: keyId, revoked_at: null }).lean();
  if (!key) throw ended();
  return { made_with: credential, ...(key.ends_with_provider && { ends_with_provider: true }) };
}

/** Returns an API key of one of these users, otherwise null. */
async function findKey(platform: Stores, id: string, owners: string[]): Promise<ApiKey | null> {
  return await ApiKeys(platform.mongo)
    .findOne({ _id: id, user_id: { $in: owners } })
    .lean<ApiKey | null>();
}

/** The access rule of routes whose path names an API key. */
export const ownKey = { kind: "resource", what: "API key", load: findKey } as const;
