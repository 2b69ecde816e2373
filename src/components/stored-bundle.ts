import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { writeFile } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import type { Connection } from "mongoose";
import { AppError } from "../lib/errors.ts";
import { BundleChunks, BundleParts, Bundles, chunkId, type StoredBundle } from "../models/component.ts";
import type { Platform } from "../platform.ts";
import type { BundleFile } from "../sandbox/bundle.ts";

/**
 * Returns a component's bundle, which is read when a sandbox needs its file. That throws `not-found` if it no longer exists, and
 * `unavailable` if MongoDB is away.
 */
export const storedBundle = ({ mongo }: Pick<Platform, "mongo">, hash: string): BundleFile => ({
  hash,
  writeTo: path => write(mongo, hash, path),
});

async function write(mongo: Connection, hash: string, path: string): Promise<void> {
  const stored = await Bundles(mongo).findById(hash).lean();
  if (!stored) throw new AppError("not-found", "component has no bundle");
  // As releases before schema 10 stored it.
  if (stored.code !== undefined) return writeFile(path, stored.code);
  const text = createHash("sha256");
  const counted = async function* (chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      text.update(chunk);
      yield chunk;
    }
  };
  await pipeline(
    Readable.from(packedChunks(mongo, hash, stored)),
    createGunzip(),
    counted,
    createWriteStream(path),
  );
  if (text.digest("hex") !== hash) throw new Error(`the stored bundle ${hash} is damaged`);
}

async function* packedChunks(
  mongo: Connection,
  hash: string,
  { packed, chunks = 0, parts }: StoredBundle,
): AsyncGenerator<Buffer> {
  if (parts) {
    for (const id of parts) yield bytesOf((await BundleParts(mongo).findById(id).lean())?.data);
    return;
  }
  yield bytesOf(packed);
  for (let n = 0; n < chunks; n += 1) {
    const chunk = await BundleChunks(mongo).findById(chunkId(hash, n)).lean();
    yield bytesOf(chunk?.data);
  }
}

/** Lean documents have the driver's own kind of bytes. */
function bytesOf(stored: Buffer | { value(): Uint8Array } | undefined): Buffer {
  if (stored === undefined) return Buffer.alloc(0);
  return Buffer.isBuffer(stored) ? stored : Buffer.from(stored.value());
}
