import { AppError } from "../lib/errors.ts";
import { LIMITS } from "../limits/catalogue.ts";
import { type ApiKey, ApiKeys } from "../models/user.ts";
import type { Platform } from "../platform.ts";
import { type Page, type PageRequest, pageOf } from "../store/page.ts";
import { newKey } from "./api-keys.ts";

type Deps = Pick<Platform, "mongo" | "clock">;

/** Returns a page of a user's API keys, revoked ones too, newest first. */
export function listOwnKeys(
  platform: Pick<Platform, "mongo">,
  userId: string,
  page: PageRequest,
): Promise<Page<ApiKey>> {
  return pageOf(ApiKeys(platform.mongo), { user_id: userId }, page);
}

/**
 * Creates an API key of a user and returns it with its text, which can't be shown again. With `LIMITS.apiKeys` of them,
 * revoked ones are no longer listed, the oldest first. Throws `limit-reached` if none of them is revoked.
 */
export async function createOwnKey(
  platform: Deps,
  userId: string,
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
  const created = newKey(platform, userId, name);
  await keys.insertOne(created.key);
  return created;
}

/** Returns an API key of one of these users, otherwise null. */
async function findKey(platform: Deps, id: string, owners: string[]): Promise<ApiKey | null> {
  return await ApiKeys(platform.mongo)
    .findOne({ _id: id, user_id: { $in: owners } })
    .lean<ApiKey | null>();
}

/** The access rule of routes whose path names an API key. */
export const ownKey = { kind: "resource", what: "API key", load: findKey } as const;
