import { createHash } from "node:crypto";
import { checkQuota } from "../accounts/quota.ts";
import { countRuns } from "../accounts/usage.ts";
import { bundleGraph } from "../components/bundle.ts";
import { importLocation } from "../components/computed-imports.ts";
import { CODE_ID } from "../components/load-modules.ts";
import { type ModuleGraph, readModuleGraph } from "../components/module-graph.ts";
import { inTrial } from "../components/trial/build.ts";
import { AppError, invalidField } from "../lib/errors.ts";
import { LIMITS } from "../limits/catalogue.ts";
import { StoredFunctions } from "../models/subscription.ts";
import type { Sandboxed, Stores } from "../platform.ts";
import type { BundleText } from "../sandbox/bundle.ts";
import { FUNCTION_FIELD, fromFunction } from "./find-function.ts";

/** Returns the hash by which a function's code is stored: that of its text. */
const hashOf = (code: string): string => createHash("sha256").update(code).digest("hex");

/**
 * Checks and stores the code of a function, unless it is stored already, and returns its hash. Must be called before the
 * subscription is stored. Throws as `buildFunction`.
 */
export async function saveFunction(
  platform: Stores & Sandboxed,
  ownerId: string,
  code: string,
): Promise<string> {
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

/**
 * Bundles a function's code and evaluates it once in a sandbox, which counts against the account's quota. Throws `invalid` that
 * names `function`, with line and column where they are known, and `rate-limited` and `unavailable` as a trial of a component.
 */
export function buildFunction(
  platform: Stores & Sandboxed,
  ownerId: string,
  code: string,
): Promise<BundleText> {
  return inTrial(ownerId, () => build(platform, ownerId, code));
}

async function build(platform: Stores & Sandboxed, ownerId: string, code: string): Promise<BundleText> {
  await checkQuota(platform, ownerId);
  const loader = fromFunction(code);
  const graph = await readModuleGraph(loader, ownerId);
  rejectPackages(graph);
  const bundled = await bundleGraph(graph, loader, { ...platform.config, account: ownerId });
  const bundle = { code: bundled.code, hash: createHash("sha256").update(bundled.code).digest("hex") };
  const sandboxes = await platform.sandboxes();
  await sandboxes
    .describe(bundle, {
      owner: ownerId,
      onEnded: ms => void countRuns(platform, ownerId, 0, ms).catch(() => undefined),
    })
    .catch((error: unknown) => {
      throw ofFunction(error);
    });
  return bundle;
}

/** Packages would make the same code another function from day to day, and a call's process large. */
function rejectPackages(graph: ModuleGraph): void {
  for (const { source, imports } of graph.modules.values()) {
    for (const [specifier, { kind }] of imports) {
      if (kind !== "package") continue;
      const message = `imports the npm package ${JSON.stringify(specifier)}: a function has only Node's built-in modules`;
      const { in: place, path } = FUNCTION_FIELD;
      throw invalidField(place, path, message + importLocation(source, specifier));
    }
  }
}

const PLACE = new RegExp(` \\(at ${CODE_ID.replace(".", "\\.")}:(\\d+):(\\d+)\\)$`);

/** What the sandbox found wrong names the component that it was given; returns the same error of the function. */
function ofFunction(error: unknown): unknown {
  if (!(error instanceof AppError) || error.code !== "invalid") return error;
  const message = error.fields[0]?.message ?? error.message;
  const placed = message.replace(PLACE, " (line $1, column $2)").replace(/^The component/, "it");
  return invalidField(FUNCTION_FIELD.in, FUNCTION_FIELD.path, placed);
}
