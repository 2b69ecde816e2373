import { createHash } from "node:crypto";
import { open, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { ComponentBundle } from "../bundle.ts";
import { cutBundle } from "../bundle-parts.ts";
import { codeTraits } from "../code-traits.ts";
import { BUNDLE_FILE, type BuildResult, PACKED_FILE, type PackedPart } from "./calls.ts";

const compress = promisify(gzip);
const sha256 = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

/** Writes a bundle to a folder, as it is and with gzip, and returns the rest. */
export async function writeBuilt(
  { code, hash, modules, packages }: ComponentBundle,
  folder: string,
): Promise<BuildResult> {
  const text = Buffer.from(code);
  await writeFile(join(folder, BUNDLE_FILE), text);
  return {
    hash,
    modules,
    packages,
    bundleHash: sha256(text),
    bundleBytes: text.length,
    parts: await pack(text, join(folder, PACKED_FILE)),
    traits: codeTraits(code),
  };
}

/** Writes each part of the text with gzip, one after the other, which together are the whole text with gzip. */
async function pack(text: Buffer, path: string): Promise<PackedPart[]> {
  const parts: PackedPart[] = [];
  const file = await open(path, "w");
  try {
    for (const part of cutBundle(text)) {
      const packed = await compress(part);
      await file.appendFile(packed);
      parts.push({ hash: sha256(part), bytes: packed.length });
    }
  } finally {
    await file.close();
  }
  return parts;
}
