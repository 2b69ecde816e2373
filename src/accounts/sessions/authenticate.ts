import type { Caller } from "../../http/route.ts";
import { createBatcher } from "../../lib/batcher.ts";
import type { Platform } from "../../platform.ts";
import { findKeyCallers, hashOf, isApiKey } from "../api-keys.ts";
import { findSessionCallers } from "./find-callers.ts";
import { hashOfToken, isSessionToken } from "./token.ts";

type Deps = Pick<Platform, "mongo" | "clock" | "routing">;

/** Look-ups that arrive at the same time share two queries. */
const BATCH = { maxWeight: 100, concurrency: 4 };
/** Requests that arrive at the same time share the question whether the routing cache is current. */
const REFRESH = { maxWeight: 1000, concurrency: 8 };

/**
 * Returns what finds the caller of an API key or a session's token, for many requests at once: however many are looked up,
 * MongoDB has a few queries at a time. A caller is kept in the routing cache, whose version each request reads: a
 * revocation, the end of a session or a new membership holds for the next request, and MongoDB is asked again only after a
 * change, or after some seconds. While Redis is away each request asks MongoDB. Returns null for what is unknown, revoked
 * or has ended.
 */
export function openAuthenticate(platform: Deps): (credential: string) => Promise<Caller | null> {
  const refresh = createBatcher(async (_: string[]) => void (await platform.routing.refresh()), REFRESH);
  const cached = (kind: string, find: (platform: Deps, hashes: string[]) => Promise<(Caller | null)[]>) => {
    const findOne = createBatcher((hashes: string[]) => find(platform, hashes), BATCH);
    const findMissing = async ([hash = ""]: string[]) => {
      const caller = await findOne(hash);
      return new Map(caller ? [[hash, caller]] : []);
    };
    return async (hash: string) => {
      const isCurrent = await refresh(hash).then(
        () => true,
        () => false,
      );
      if (!isCurrent) return await findOne(hash);
      const found = await platform.routing.lookUp(kind, [hash], findMissing, ({ userId }) => [userId]);
      return found.get(hash) ?? null;
    };
  };
  const ofKey = cached("caller", findKeyCallers);
  const ofSession = cached("session", findSessionCallers);
  return async credential => {
    if (isApiKey(credential)) return await ofKey(hashOf(credential));
    return isSessionToken(credential) ? await ofSession(hashOfToken(credential)) : null;
  };
}
