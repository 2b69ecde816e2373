import { open, readFile, stat } from "node:fs/promises";
import type { ClientSession, Connection } from "mongoose";
import { LIMITS } from "../limits/catalogue.ts";
import { BundleChunks, Bundles, Components, chunkId, type StoredBundle } from "../models/component.ts";
import { packedBundles } from "../store/schema/migrations/0011-packed-bundles.ts";
import { readState } from "../store/schema/state.ts";
import type { Built } from "./builder/with-built.ts";
import { isLargeBundle } from "./large-bundle.ts";

/** MongoDB's documents have at most 16 MB. Of a packed bundle beyond this, the further chunks are documents of their own. */
const CHUNK_BYTES = LIMITS.bundleChunkBytes.value;

/**
 * Returns whether no process of a release that can't unpack bundles uses the database
 * (docs/decisions/0044-building-apart.md).
 */
export async function mayPack({ db }: Connection): Promise<boolean> {
  const state = db && (await readState(db));
  return state?.applied.includes(packedBundles.number) ?? false;
}

/**
 * Stores a bundle as part of a transaction, or counts a save of it if it is stored. If a component with the same bundle is
 * being deleted, both transactions write the bundle's document, so that one of them is repeated.
 */
export async function storeBundle(
  mongo: Connection,
  session: ClientSession,
  { bundle: { hash }, path, packedPath }: Built,
  isPacked: boolean,
): Promise<void> {
  const isKnown = await Bundles(mongo).exists({ _id: hash }).session(session);
  let content: Pick<StoredBundle, "code" | "packed" | "chunks"> = {};
  if (!isKnown) {
    const isPlain = !isPacked && !isLargeBundle((await stat(path)).size);
    content = isPlain
      ? { code: await readFile(path, "utf8") }
      : await storeChunks(mongo, session, hash, packedPath);
  }
  await Bundles(mongo).updateOne(
    { _id: hash },
    { $setOnInsert: content, $inc: { saves: 1 } },
    { upsert: true, session },
  );
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

/**
 * Deletes a bundle as part of a transaction that deletes a component, unless other components have it. The document is written
 * in either case: of two transactions that each delete one of the last two components, neither would see what the other does.
 */
export async function releaseBundle(mongo: Connection, session: ClientSession, hash: string): Promise<void> {
  await Bundles(mongo).updateOne({ _id: hash }, { $inc: { saves: -1 } }, { session });
  if (await Components(mongo).exists({ bundle_hash: hash }).session(session)) return;
  const deleted = await Bundles(mongo)
    .findOneAndDelete({ _id: hash }, { session, projection: { chunks: 1 } })
    .lean();
  const ids = Array.from({ length: deleted?.chunks ?? 0 }, (_, n) => chunkId(hash, n));
  if (ids.length > 0) await BundleChunks(mongo).deleteMany({ _id: { $in: ids } }, { session });
}
