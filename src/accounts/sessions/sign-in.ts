import { AppError, invalidField } from "../../lib/errors.ts";
import { LIMITS } from "../../limits/catalogue.ts";
import { type SignInLink, SignInLinks } from "../../models/session.ts";
import { ApiKeys } from "../../models/user.ts";
import type { Platform } from "../../platform.ts";
import { findCaller, isApiKey } from "../api-keys.ts";
import { hashOfToken, isLinkToken, newLinkToken } from "./sessions.ts";

export interface Proof {
  api_key?: string;
  link?: string;
}

/**
 * Returns the user that an API key or a one-time link proves, and the key. `countWrong` is called for a wrong proof, and throws if
 * there were too many. A right one is never held up by the guesses of others at its address: 190 random bits can't be guessed.
 * Throws `unauthenticated` for a wrong one, `invalid` unless there is exactly one.
 */
export async function checkProof(
  platform: Pick<Platform, "mongo" | "clock">,
  { api_key, link }: Proof,
  countWrong: () => Promise<void>,
): Promise<{ userId: string; keyId: string }> {
  if ((api_key === undefined) === (link === undefined)) {
    const message =
      link === undefined ? "is required, or a link instead of it" : "can't be combined with link";
    throw invalidField("body", "api_key", message);
  }
  if (api_key !== undefined) {
    const caller = isApiKey(api_key) ? await findCaller(platform, api_key) : null;
    if (caller) return { userId: caller.userId, keyId: caller.keyId };
    await countWrong();
    throw new AppError("unauthenticated", "the API key is unknown or revoked");
  }
  const redeemed = await redeemLink(platform, link ?? "");
  if (redeemed) return { userId: redeemed.user_id, keyId: redeemed.key_id };
  await countWrong();
  throw new AppError("unauthenticated", "the link is unknown, expired or used already");
}

type Deps = Pick<Platform, "mongo" | "clock">;

/**
 * Makes a link that signs in once as the user, within `LIMITS.signInLinkMs`. It replaces the user's earlier ones. Returns
 * its token, which the page receives in the fragment of the address: that is sent to no server and no log.
 */
export async function makeLink(
  platform: Deps,
  { userId, keyId }: { userId: string; keyId: string },
): Promise<{ token: string; expiresAtMs: number }> {
  const token = newLinkToken();
  const expiresAtMs = platform.clock() + LIMITS.signInLinkMs.value;
  await SignInLinks(platform.mongo).deleteMany({ user_id: userId });
  await SignInLinks(platform.mongo).insertOne({
    _id: hashOfToken(token),
    user_id: userId,
    key_id: keyId,
    expires_at: new Date(expiresAtMs),
  });
  return { token, expiresAtMs };
}

/** Uses a link up; returns null if it is unknown, used, expired, or its API key was revoked. */
async function redeemLink(platform: Deps, token: string): Promise<SignInLink | null> {
  if (!isLinkToken(token)) return null;
  const link = await SignInLinks(platform.mongo)
    .findOneAndDelete({ _id: hashOfToken(token) })
    .lean<SignInLink | null>();
  if (!link || link.expires_at.getTime() <= platform.clock()) return null;
  const key = await ApiKeys(platform.mongo).exists({ _id: link.key_id, revoked_at: null });
  return key ? link : null;
}
