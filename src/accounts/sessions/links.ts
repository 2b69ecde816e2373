import { LIMITS } from "../../limits/catalogue.ts";
import { type SignInLink, SignInLinks } from "../../models/session.ts";
import { ApiKeys } from "../../models/user.ts";
import type { Platform } from "../../platform.ts";
import { hashOfToken, isLinkToken, newLinkToken } from "./token.ts";

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
export async function redeemLink(platform: Deps, token: string): Promise<SignInLink | null> {
  if (!isLinkToken(token)) return null;
  const link = await SignInLinks(platform.mongo)
    .findOneAndDelete({ _id: hashOfToken(token) })
    .lean<SignInLink | null>();
  if (!link || link.expires_at.getTime() <= platform.clock()) return null;
  const key = await ApiKeys(platform.mongo).exists({ _id: link.key_id, revoked_at: null });
  return key ? link : null;
}
