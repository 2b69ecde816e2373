import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import type { ComponentBundle } from "../bundle.ts";
import { codeTraits } from "../code-traits.ts";
import { BUNDLE_FILE, type BuildResult, PACKED_FILE } from "./order.ts";

/** Writes a bundle to a folder, as it is and with gzip, and returns the rest. */
export async function writeBuilt(
  { code, hash, modules, packages }: ComponentBundle,
  folder: string,
): Promise<BuildResult> {
  const text = Buffer.from(code);
  const path = join(folder, BUNDLE_FILE);
  await writeFile(path, text);
  await pipeline(createReadStream(path), createGzip(), createWriteStream(join(folder, PACKED_FILE)));
  return {
    hash,
    modules,
    packages,
    bundleHash: createHash("sha256").update(text).digest("hex"),
    bundleBytes: text.length,
    traits: codeTraits(code),
  };
}
