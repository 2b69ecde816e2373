import { AppError, invalidField } from "../../lib/errors.ts";
import type { Platform } from "../../platform.ts";
import { findCaller, isApiKey } from "../api-keys.ts";
import { redeemLink } from "./links.ts";

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
