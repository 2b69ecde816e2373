import { LRUCache } from "lru-cache";
import { StoredFunctions } from "../models/function.ts";
import type { Platform } from "../platform.ts";
import type { Bundle } from "../sandbox/bundle.ts";

type Deps = Pick<Platform, "mongo">;

const CACHED_BYTES = 16 * 1024 * 1024;

/** Opens what finds the bundles of functions by their hash, and keeps those in use: the bundle of a hash never changes. */
export function openFindFunction({ mongo }: Deps): (hash: string) => Promise<Bundle | null> {
  const bundles = new LRUCache<string, Bundle>({
    maxSize: CACHED_BYTES,
    sizeCalculation: ({ code }) => code.length,
  });
  return async hash => {
    const known = bundles.get(hash);
    if (known) return known;
    const found = await StoredFunctions(mongo).findById(hash, { bundle: 1 }).lean();
    if (!found) return null;
    const bundle = { hash, code: found.bundle };
    bundles.set(hash, bundle);
    return bundle;
  };
}

/** Returns the code of functions by their hash, as it was given. */
export async function findFunctionCode({ mongo }: Deps, hash: string): Promise<string | null> {
  return (await StoredFunctions(mongo).findById(hash, { code: 1 }).lean())?.code ?? null;
}
