import type { Caller } from "../http/route.ts";
import { AppError, invalidField, notFound } from "../lib/errors.ts";
import type { KeyKind } from "../lib/key-access.ts";
import { LIMITS } from "../limits/catalogue.ts";
import { type ApiKey, ApiKeys } from "../models/user.ts";
import type { Stores } from "../platform.ts";
import { type Page, type PageRequest, pageOf } from "../store/page.ts";
import { type KeyLimits, type KeyOrigin, newKey, stillValid } from "./api-keys.ts";
import { readNames } from "./names.ts";
import { findLiveSession } from "./sessions/authenticate.ts";

/** Returns a page of a user's API keys, those that are not valid any more too, newest first. */
export function listOwnKeys(platform: Stores, userId: string, page: PageRequest): Promise<Page<ApiKey>> {
  return pageOf(ApiKeys(platform.mongo), { user_id: userId }, page);
}

/** A key that a user wants. */
export interface WantedKey extends KeyLimits {
  name: string | null;
  kind?: KeyKind;
  /** Unix seconds; it ends then, or with what it is made with if that is earlier. */
  endsBy?: number;
}

/**
 * Creates an API key of a user, by a session or another key of theirs, and returns it with its text, which can't be shown again. It
 * ends with what it is made with, at the latest. With `LIMITS.apiKeys` of them, those that are revoked or expired are no longer listed,
 * the oldest first. Throws `limit-reached` if all of them are valid, `invalid` for an end that can't be, `not-found` for an emitter of
 * none of `owners`, and `unauthenticated` if the session or the key has ended.
 */
export async function createOwnKey(
  platform: Stores,
  { userId, keyId }: Pick<Caller, "userId" | "keyId">,
  wanted: WantedKey,
  owners: string[],
): Promise<{ key: ApiKey; apiKey: string }> {
  checkLimits(platform, wanted);
  await checkEmitters(platform, wanted.emitterIds ?? [], owners);
  const { origin, endsAt } = await originOf(platform, keyId);
  const { kind, endsBy } = wanted;
  const expiresAt =
    endsBy === undefined ? earlierEnd(wanted.expiresAt, endsAt) : Math.min(endsBy, endsAt ?? endsBy);
  const limits = { ...wanted, expiresAt };
  await makeRoom(platform, userId);
  const created = newKey(platform, userId, wanted.name, { origin, limits, ...(kind && { kind }) });
  const keys = ApiKeys(platform.mongo);
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

function checkLimits({ clock }: Stores, { access = "full", emitterIds, expiresAt }: WantedKey): void {
  if (emitterIds !== undefined && access !== "publish") {
    throw invalidField("body", "emitter_ids", "needs the access publish");
  }
  if (expiresAt === undefined) return;
  const lifeMs = expiresAt * 1000 - clock();
  if (lifeMs <= 0) throw invalidField("body", "expires_at", "must be in the future");
  if (lifeMs > LIMITS.apiKeyLifeMs.value) {
    const days = LIMITS.apiKeyLifeMs.value / 86_400_000;
    throw invalidField(
      "body",
      "expires_at",
      `must be within ${days} days; without it, the key does not expire`,
    );
  }
}

/** Throws `not-found` for what is not a source or workflow of these accounts. */
async function checkEmitters(platform: Stores, ids: string[], owners: string[]): Promise<void> {
  const nameOf = await readNames(platform, ids, owners);
  const absent = ids.find(id => nameOf(id) === null);
  if (absent !== undefined) throw notFound(`emitter ${absent}`);
}

/** Throws `invalid` for an end that is later than that of what the key is made with. */
function earlierEnd(wanted: number | undefined, makersEnd: number | undefined): number | undefined {
  if (wanted === undefined || makersEnd === undefined || wanted <= makersEnd) return wanted ?? makersEnd;
  const message = `must not be after ${makersEnd}, when the key with which it is made expires`;
  throw invalidField("body", "expires_at", message);
}

/** Deletes the oldest keys that are not valid any more, if the user has too many. Throws `limit-reached` if that does not help. */
async function makeRoom(platform: Stores, userId: string): Promise<void> {
  const most = LIMITS.apiKeys.value;
  const keys = ApiKeys(platform.mongo);
  const excess = (await keys.countDocuments({ user_id: userId })) - most + 1;
  if (excess <= 0) return;
  const ended = await keys
    .find({ user_id: userId, $nor: [stillValid(platform)] }, { _id: 1 })
    .sort({ _id: 1 })
    .limit(excess)
    .lean();
  if (ended.length < excess) {
    throw new AppError("limit-reached", `a user has at most ${most} API keys: revoke one first`);
  }
  await keys.deleteMany({ _id: { $in: ended.map(({ _id }) => _id) } });
}

/** What a key is made with, a session or another key. */
interface Maker {
  origin: KeyOrigin;
  /** When it ends by itself, in Unix seconds; undefined for never, and for a session that no key began. */
  endsAt: number | undefined;
}

/** Returns what a key is made with by this credential. Throws `unauthenticated` if it has ended by now. */
async function originOf(platform: Stores, credential: string): Promise<Maker> {
  const ended = () => new AppError("unauthenticated", "the key or the session has ended");
  let keyId = credential;
  if (credential.startsWith("ses_")) {
    const session = await findLiveSession(platform, credential);
    if (!session) throw ended();
    if (session.key_id === null) {
      return { origin: { made_with: credential, ends_with_provider: true }, endsAt: undefined };
    }
    keyId = session.key_id;
  }
  const key = await ApiKeys(platform.mongo)
    .findOne({ _id: keyId, ...stillValid(platform) })
    .lean();
  if (!key) throw ended();
  const origin = {
    made_with: credential,
    ...(key.ends_with_provider && { ends_with_provider: true as const }),
  };
  return { origin, endsAt: key.expires_at };
}

/** Returns an API key of one of these users, otherwise null. */
async function findKey(platform: Stores, id: string, owners: string[]): Promise<ApiKey | null> {
  return await ApiKeys(platform.mongo)
    .findOne({ _id: id, user_id: { $in: owners } })
    .lean<ApiKey | null>();
}

/** The access rule of routes whose path names an API key. */
export const ownKey = { kind: "resource", what: "API key", load: findKey } as const;
