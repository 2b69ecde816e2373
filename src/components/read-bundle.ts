import { notFound } from "../lib/errors.ts";
import { Bundles, type Component } from "../models/component.ts";
import type { Platform } from "../platform.ts";
import type { Bundle } from "../sandbox/bundle.ts";

/** Returns what the sandbox loads of a component. Throws `not-found` if it was deleted. */
export async function readBundle(
  { mongo }: Pick<Platform, "mongo">,
  { bundle_hash: hash }: Pick<Component, "bundle_hash">,
): Promise<Bundle> {
  const bundle = await Bundles(mongo).findById(hash).lean();
  if (!bundle) throw notFound("component");
  return { code: bundle.code, hash };
}
