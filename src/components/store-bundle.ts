import { open, readFile, stat } from "node:fs/promises";
import type { ClientSession, Connection } from "mongoose";
import { LIMITS } from "../limits/catalogue.ts";
import {
  BundleChunks,
  BundleParts,
  Bundles,
  Components,
  chunkId,
  type StoredBundle,
} from "../models/component.ts";
import { packedBundles } from "../store/schema/migrations/0011-packed-bundles.ts";
import { bundlesInParts } from "../store/schema/migrations/0015-bundles-in-parts.ts";
import { readState } from "../store/schema/state.ts";
import type { PackedPart } from "./builder/calls.ts";
import type { Built } from "./builder/with-built.ts";
import { isLargeBundle } from "./bundle-parts.ts";

/** MongoDB's documents have at most 16 MB. Of a packed bundle beyond this, the further chunks are documents of their own. */
const CHUNK_BYTES = LIMITS.bundleChunkBytes.value;

/** How a bundle is stored: as releases before schema 10 read it, before schema 14, or as this one. */
type Form = "plain" | "packed" | "parts";

/**
 * Returns how bundles may be stored, so that every process that uses the database can read them
 * (docs/decisions/0044-building-apart.md).
 */
export async function formOfBundles({ db }: Connection): Promise<Form> {
  const applied = (db && (await readState(db)))?.applied ?? [];
  if (applied.includes(bundlesInParts.number)) return "parts";
  return applied.includes(packedBundles.number) ? "packed" : "plain";
}

/**
 * Stores a bundle as part of a transaction, or counts a save of it if it is stored. If a component with the same bundle is
 * being deleted, both transactions write the bundle's document, so that one of them is repeated.
 */
export async function storeBundle(
  mongo: Connection,
  session: ClientSession,
  built: Built,
  form: Form,
): Promise<void> {
  const { hash } = built.bundle;
  const isKnown = await Bundles(mongo).exists({ _id: hash }).session(session);
  const content = isKnown ? {} : await storeContent(mongo, session, built, form);
  await Bundles(mongo).updateOne(
    { _id: hash },
    { $setOnInsert: content, $inc: { saves: 1 } },
    { upsert: true, session },
  );
}

async function storeContent(
  mongo: Connection,
  session: ClientSession,
  { bundle: { hash }, path, packedPath, parts }: Built,
  form: Form,
): Promise<Pick<StoredBundle, "code" | "packed" | "chunks" | "parts">> {
  if (form === "parts" && parts.length > 1) {
    await storeParts(mongo, session, parts, packedPath);
    return { parts: parts.map(part => part.hash) };
  }
  const isPlain = form === "plain" && !isLargeBundle((await stat(path)).size);
  if (isPlain) return { code: await readFile(path, "utf8") };
  return storeChunks(mongo, session, hash, packedPath);
}

/** Stores all but the first chunk, one in memory at a time. */
async function storeChunks(
  mongo: Connection,
  session: ClientSession,
  hash: string,
  path: string,
): Promise<Pick<StoredBundle, "packed" | "chunks">> {
  const file = await open(path);
  try {
    const read = async (position: number) => {
      const { bytesRead, buffer } = await file.read({ buffer: Buffer.alloc(CHUNK_BYTES), position });
      return buffer.subarray(0, bytesRead);
    };
    const { size } = await file.stat();
    const packed = await read(0);
    let chunks = 0;
    for (let at = CHUNK_BYTES; at < size; at += CHUNK_BYTES) {
      const chunk = { _id: chunkId(hash, chunks++), data: await read(at) };
      await BundleChunks(mongo).insertMany([chunk], { session });
    }
    return { packed, chunks };
  } finally {
    await file.close();
  }
}

/** Stores the parts that no other bundle has, one in memory at a time, and counts this one for each. */
async function storeParts(
  mongo: Connection,
  session: ClientSession,
  parts: readonly PackedPart[],
  path: string,
): Promise<void> {
  const places = placesOf(parts);
  const ids = [...places.keys()];
  const known = await BundleParts(mongo).updateMany(
    { _id: { $in: ids } },
    { $inc: { bundles: 1 } },
    { session },
  );
  if (known.matchedCount === ids.length) return;
  const found = await BundleParts(mongo)
    .find({ _id: { $in: ids } }, { _id: 1 }, { session })
    .lean();
  const file = await open(path);
  try {
    for (const { _id } of found) places.delete(_id);
    for (const [id, { position, bytes }] of places) {
      const { buffer: data } = await file.read({ buffer: Buffer.alloc(bytes), position });
      await BundleParts(mongo).insertMany([{ _id: id, data, bundles: 1 }], { session });
    }
  } finally {
    await file.close();
  }
}

/** Returns where each part is in the file, by its hash. */
function placesOf(parts: readonly PackedPart[]): Map<string, { position: number; bytes: number }> {
  let position = 0;
  const places = new Map<string, { position: number; bytes: number }>();
  for (const { hash, bytes } of parts) {
    places.set(hash, { position, bytes });
    position += bytes;
  }
  return places;
}

/**
 * Deletes a bundle as part of a transaction that deletes a component, unless other components have it. The document is written
 * in either case: of two transactions that each delete one of the last two components, neither would see what the other does.
 */
export async function releaseBundle(mongo: Connection, session: ClientSession, hash: string): Promise<void> {
  await Bundles(mongo).updateOne({ _id: hash }, { $inc: { saves: -1 } }, { session });
  if (await Components(mongo).exists({ bundle_hash: hash }).session(session)) return;
  const deleted = await Bundles(mongo)
    .findOneAndDelete({ _id: hash }, { session, projection: { chunks: 1, parts: 1 } })
    .lean();
  const ids = Array.from({ length: deleted?.chunks ?? 0 }, (_, n) => chunkId(hash, n));
  if (ids.length > 0) await BundleChunks(mongo).deleteMany({ _id: { $in: ids } }, { session });
  if (deleted?.parts) await releaseParts(mongo, session, deleted.parts);
}

/** Deletes the parts that no other bundle has. A bundle that is stored at the same time writes the same documents. */
async function releaseParts(mongo: Connection, session: ClientSession, parts: string[]): Promise<void> {
  const these = { _id: { $in: parts } };
  await BundleParts(mongo).updateMany(these, { $inc: { bundles: -1 } }, { session });
  await BundleParts(mongo).deleteMany({ ...these, bundles: { $lte: 0 } }, { session });
}
