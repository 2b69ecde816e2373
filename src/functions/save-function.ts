import { createHash } from "node:crypto";
import { invalidField } from "../lib/errors.ts";
import { LIMITS } from "../limits/catalogue.ts";
import { StoredFunctions } from "../models/function.ts";
import { type BuildDeps, buildFunction } from "./build-function.ts";
import { FUNCTION_FIELD } from "./find-function.ts";

/** Returns the hash by which a function's code is stored: that of its text. */
const hashOf = (code: string): string => createHash("sha256").update(code).digest("hex");

/**
 * Checks and stores the code of a function, unless it is stored already, and returns its hash. Must be called before the
 * subscription is stored. Throws as `buildFunction`.
 */
export async function saveFunction(platform: BuildDeps, ownerId: string, code: string): Promise<string> {
  if (Buffer.byteLength(code) > LIMITS.functionBytes.value) {
    const message = `can have at most ${LIMITS.functionBytes.value} bytes`;
    throw invalidField(FUNCTION_FIELD.in, FUNCTION_FIELD.path, message);
  }
  const functions = StoredFunctions(platform.mongo);
  const hash = hashOf(code);
  const used = { $inc: { saves: 1 }, $unset: { unused_since_ms: 1 as const } };
  const { matchedCount } = await functions.updateOne({ _id: hash }, used);
  if (matchedCount > 0) return hash;
  const bundle = await buildFunction(platform, ownerId, code);
  await functions.updateOne(
    { _id: hash },
    { ...used, $setOnInsert: { code, bundle: bundle.code } },
    { upsert: true },
  );
  return hash;
}
