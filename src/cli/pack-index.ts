import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { bundleComponent } from "../components/bundle.ts";
import { fromFile } from "../components/load-modules.ts";
import { parseIndex } from "../gallery/index-file.ts";
import { AppError } from "../lib/errors.ts";
import { propValuesForRun } from "../props/configure.ts";
import type { BundleText } from "../sandbox/bundle.ts";
import type { ComponentDescription } from "../sandbox/protocol.ts";
import type { Sandboxes } from "../sandbox/sandboxes.ts";
import { type LocalServices, type LocalSettings, openLocalServices } from "./dev/local-services.ts";
import { readObjectFile } from "./input.ts";

/** A component in the manifest of an index: its file is named from the manifest's folder. */
interface Named {
  app: string;
  file: string;
  changelog: unknown;
}

/**
 * Builds the components that a manifest names, and returns the file of their index (docs/gallery.md#components-of-others) with its SHA-256.
 * Throws AppError `invalid` for a component that can't be saved, and for what a server would reject.
 */
export async function packIndex(
  settings: LocalSettings,
  path: string,
): Promise<{ text: string; sha256: string }> {
  const { title, apps, components } = await readObjectFile(path, "title, apps and components");
  if (!Array.isArray(components)) throw new AppError("invalid", `${path}: components must be a list`);
  const services = await openLocalServices(settings, []);
  try {
    const packed = [];
    for (const one of components as Named[]) packed.push(await pack(services, dirname(resolve(path)), one));
    const text = JSON.stringify({ headwater_gallery: 1, title, apps, components: packed });
    // As a server reads it.
    parseIndex(Buffer.from(text));
    return { text, sha256: createHash("sha256").update(`${text}\n`).digest("hex") };
  } finally {
    await services.close();
  }
}

async function pack({ sandboxes, bundling }: LocalServices, folder: string, { app, file, changelog }: Named) {
  const path = resolve(folder, String(file));
  const loader = fromFile(path);
  const { code, packages } = await bundleComponent(loader, bundling);
  const bundle = { code, hash: createHash("sha256").update(code).digest("hex") };
  const description = await sandboxes.describe(bundle);
  const given = loader.files?.() ?? {
    files: { [basename(path)]: await readFile(path, "utf8") },
    entry: basename(path),
  };
  const sample = await sampleOf(sandboxes, bundle, description);
  return { app, description, sample, changelog, ...given, packages, bundle: code };
}

/** Returns the first event of `sampleEmit`; null if there is none, or it needs props. */
async function sampleOf(
  sandboxes: Sandboxes,
  bundle: BundleText,
  { props, hasSampleEmit }: ComponentDescription,
) {
  if (!hasSampleEmit) return null;
  const bound = propValuesForRun(props, {}, { endpointUrl: null });
  const request = { call: "sampleEmit" as const, event: null, props: bound, db: {} };
  const { emits, error } = await sandboxes.call(`sample:${bundle.hash}`, bundle, request);
  return error ? null : (emits[0]?.event ?? null);
}
