import { createHmac, hkdfSync } from "node:crypto";
import { isId } from "../../lib/ids.ts";
import { isSameSecret } from "../../lib/same-secret.ts";

const keyOf = (secretsKey: Buffer) =>
  Buffer.from(hkdfSync("sha256", secretsKey, "", "headwater alert mails off", 32));

const sign = (secretsKey: Buffer, userId: string): string =>
  createHmac("sha256", keyOf(secretsKey)).update(userId).digest("base64url");

/**
 * Returns the token of the link with which a user turns mails about alerts off: it is good for nothing else, and it never
 * expires, because mails are kept. The first key of `SECRETS_KEY` signs, all verify.
 */
export const mailToken = (secretsKeys: readonly Buffer[], userId: string): string =>
  `${userId}.${sign(secretsKeys[0] as Buffer, userId)}`;

/** Returns the user of such a token; null for a text that is none. */
export function userOfMailToken(secretsKeys: readonly Buffer[], token: string): string | null {
  const [userId = "", signature = "", ...more] = token.slice(0, 256).split(".");
  if (!isId("u", userId) || more.length > 0) return null;
  return secretsKeys.some(key => isSameSecret(sign(key, userId), signature)) ? userId : null;
}
