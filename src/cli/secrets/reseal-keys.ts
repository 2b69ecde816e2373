import type { Platform } from "../../platform.ts";
import { scanKeys } from "../../store/scan-keys.ts";
import { resealed } from "./sealed-with.ts";
import { newTally, noteUnreadable, type Tally } from "./tally.ts";

export type KeysDeps = Pick<Platform, "redis" | "keys" | "secrets">;

/** Keys that one step of a scan looks at. */
const STEP = 1000;

/** As `REPLACE` of src/http/idempotency.ts, with the time to live that the key has. */
const REPLACE = `
if redis.call("GET", KEYS[1]) ~= ARGV[1] then return 0 end
redis.call("SET", KEYS[1], ARGV[2], "KEEPTTL")
return 1`;

/** Returns the keys of Redis that hold a sealed text that begins with none of these, with the text. Throws as ioredis does. */
export async function* sealedKeys(
  { redis, keys }: Pick<KeysDeps, "redis" | "keys">,
  beginnings: readonly string[],
): AsyncGenerator<{ key: string; sealed: string }> {
  for (const pattern of keys.sealed()) {
    let cursor: string | null = null;
    do {
      const step = await scanKeys(redis, cursor, pattern, STEP);
      cursor = step.next;
      // One by one, because on a cluster they are in many slots; they are pipelined all the same.
      const values = await Promise.all(step.found.map(key => redis.get(key)));
      for (const [i, key] of step.found.entries()) {
        const sealed = values[i];
        if (sealed?.startsWith("v1.") && !beginnings.some(text => sealed.startsWith(text)))
          yield { key, sealed };
      }
    } while (cursor !== null);
  }
}

/**
 * Encrypts with the first key what Redis keeps for a while: responses for an `Idempotency-Key`, and consents in progress. A
 * request that is being handled keeps its record, and counts as busy.
 */
export async function resealKeys(deps: KeysDeps, progress: (tally: Tally) => void): Promise<Tally> {
  const { redis, secrets } = deps;
  const tally = newTally("Redis");
  for await (const { key, sealed } of sealedKeys(deps, [secrets.beginnings[0]])) {
    const again = resealed(secrets, sealed);
    if (again === null) noteUnreadable(tally, key);
    else if (isInProgress(secrets.open(sealed))) tally.busy += 1;
    else if (await redis.eval(REPLACE, 1, key, sealed, again)) tally.resealed += 1;
    else tally.busy += 1;
    progress(tally);
  }
  return tally;
}

/** True for the record of a request without a response: its process compares it with what it stored. */
function isInProgress(text: string): boolean {
  const value = JSON.parse(text) as { attempt?: unknown; response?: unknown };
  return value.attempt !== undefined && value.response === undefined;
}
