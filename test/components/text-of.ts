import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { storedBundle } from "../../src/components/stored-bundle.ts";
import type { Stores } from "../../src/platform.ts";

/** Returns the text of a stored bundle, as a sandbox gets it. */
export async function textOf(platform: Stores, hash: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "stored-bundle-"));
  try {
    const path = join(folder, "bundle.mjs");
    await storedBundle(platform, hash).writeTo(path);
    return await readFile(path, "utf8");
  } finally {
    await rm(folder, { recursive: true });
  }
}
