import { LRUCache } from "lru-cache";
import { CODE_ID, type ModuleLoader } from "../components/load-modules.ts";
import { invalidField } from "../lib/errors.ts";
import { LIMITS } from "../limits/catalogue.ts";
import { StoredFunctions } from "../models/subscription.ts";
import type { Stores } from "../platform.ts";
import type { BundleText } from "../sandbox/bundle.ts";

const CACHED_BYTES = 16 * 1024 * 1024;

/** Opens what finds the bundles of functions by their hash, and keeps those in use: the bundle of a hash never changes. */
export function openFindFunction({ mongo }: Stores): (hash: string) => Promise<BundleText | null> {
  const bundles = new LRUCache<string, BundleText>({
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
export async function findFunctionCode({ mongo }: Stores, hash: string): Promise<string | null> {
  return (await StoredFunctions(mongo).findById(hash, { code: 1 }).lean())?.code ?? null;
}

/** The field of requests that holds a function's code, which errors name. */
export const FUNCTION_FIELD = { in: "body", path: "function" } as const;

const ENTRY_ID = "headwater-function.mjs";

/**
 * A component around the function: its `run` gets one event, and emits what the function returns. So a call with many events
 * is a batch of runs, with all bounds of those.
 */
const ENTRY = `import * as given from "./function";
const transform = given.default;
if (typeof transform !== "function") {
  // Without a stack, which would name this file.
  throw Object.assign(new TypeError("the default export must be a function: export default (event, meta) => event"), { stack: "" });
}
export default {
  name: "function",
  version: "1",
  async run({ event, meta }) {
    const result = await transform(event, meta);
    if (result === null || result === undefined) return;
    if (typeof result === "function" || typeof result === "symbol") {
      throw new TypeError("the function must return a JSON value, or null to drop the event; it returned a " + typeof result);
    }
    this.$emit(result);
  },
};
`;

/** Returns a loader for the code of a function: one file, in JavaScript or TypeScript. Its errors name `function`. */
export function fromFunction(code: string): ModuleLoader {
  const { in: place, path } = FUNCTION_FIELD;
  return {
    field: FUNCTION_FIELD,
    async entry() {
      if (Buffer.byteLength(code) > LIMITS.functionBytes.value) {
        throw invalidField(place, path, `can have at most ${LIMITS.functionBytes.value} bytes`);
      }
      return { id: ENTRY_ID, text: ENTRY, language: "js" };
    },
    async resolve(specifier, importerId) {
      if (importerId === ENTRY_ID) return { id: CODE_ID, text: code, language: "script" };
      const message = `the import ${JSON.stringify(specifier)} is a file, but a function is one file without others`;
      throw invalidField(place, path, message);
    },
  };
}
