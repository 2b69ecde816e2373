import type { Caller } from "../http/route.ts";
import { OAuthRecords } from "../models/oauth-record.ts";
import { ApiKeys } from "../models/user.ts";
import type { Stores } from "../platform.ts";
import { callersOf } from "./api-keys.ts";

/** Returns true if a text has the shape of an access token that an agent's host was issued. */
export const isAccessToken = (text: string): boolean => /^[\w-]{43}$/.test(text);

/** The address that access tokens are for, and the only one that accepts them. */
export const resourceOf = ({ config }: Stores): string => `${config.publicUrl}/mcp`;

/**
 * Returns the users of access tokens, by the ids of their records; null for one that is unknown, was revoked or is for another
 * address. A token may do what the API key may that the user's consent made, and ends with it.
 */
export async function findTokenCallers(platform: Stores, recordIds: string[]): Promise<(Caller | null)[]> {
  const tokens = await OAuthRecords(platform.mongo)
    .find({ _id: { $in: recordIds } })
    .lean();
  const keyIds = tokens.flatMap(({ key_id }) => key_id ?? []);
  const keys = await ApiKeys(platform.mongo)
    .find({ _id: { $in: keyIds }, kind: "oauth", revoked_at: null })
    .lean();
  const callerOf = await callersOf(platform, keys);
  const byId = new Map(tokens.map(token => [token._id, token]));
  return recordIds.map(id => {
    const token = byId.get(id);
    if (token?.key_id === undefined || JSON.parse(token.payload).aud !== resourceOf(platform)) return null;
    const caller = callerOf(token.key_id);
    const endsAtMs = token.expires_at.getTime();
    return caller && { ...caller, endsAtMs: Math.min(endsAtMs, caller.endsAtMs ?? endsAtMs) };
  });
}
