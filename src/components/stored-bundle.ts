import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { writeFile } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { createGunzip, gunzip, gzip } from "node:zlib";
import { LRUCache } from "lru-cache";
import type { Connection } from "mongoose";
import { AppError, notFound } from "../lib/errors.ts";
import { LIMITS } from "../limits/catalogue.ts";
import {
  BundleChunks,
  BundleParts,
  Bundles,
  type Component,
  Components,
  chunkId,
  type StoredBundle,
} from "../models/component.ts";
import type { Stores } from "../platform.ts";
import type { Bundle, BundleFile } from "../sandbox/bundle.ts";
import { hashOfFile } from "./module-graph.ts";
import type { GivenFiles } from "./read-files.ts";

/**
 * Returns a component's bundle, which is read when a sandbox needs its file. That throws `not-found` if it no longer exists, and
 * `unavailable` if MongoDB is away.
 */
export const storedBundle = ({ mongo }: Stores, hash: string): BundleFile => ({
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

const pack = promisify(gzip);
const unpack = promisify(gunzip);

/** Returns the files of a component as its document has them. */
export const packFiles = (given: GivenFiles): Promise<Buffer> => pack(JSON.stringify(given));

/** Stores the files of a component that a release saved which kept none of them. */
export async function addFiles({ mongo }: Stores, id: string, given: GivenFiles): Promise<void> {
  const files = await packFiles(given);
  await Components(mongo).updateOne({ _id: id, files: { $exists: false } }, { $set: { files } });
}

/** Returns the files of a component, none if its code is all of it, and null if they were not kept. */
export async function readFiles(
  { mongo }: Stores,
  { _id, code, code_hash }: Component,
): Promise<{ files: Record<string, string> | null; entry: string | null }> {
  const stored = await Components(mongo)
    .findById(_id, { files: 1 })
    .lean<{ files?: { buffer: Buffer } } | null>();
  if (stored?.files) return JSON.parse((await unpack(stored.files.buffer)).toString());
  return { files: code_hash === hashOfFile(code) ? {} : null, entry: null };
}

/** What a run needs of a component: not the code as it was given. */
export type RunnableComponent = Omit<Component, "code">;

/** A component ready to run. */
export interface Code {
  component: RunnableComponent;
  bundle: Bundle;
}

const components = new LRUCache<string, RunnableComponent>({
  maxSize: LIMITS.componentCacheBytes.value,
  sizeCalculation: component => JSON.stringify(component).length,
});

/**
 * Returns a component and its bundle, which is read when a sandbox needs it. Throws `not-found` if the component no longer
 * exists.
 */
export async function loadCode(platform: Stores, componentId: string): Promise<Code> {
  const component = components.get(componentId) ?? (await readComponent(platform, componentId));
  return { component, bundle: storedBundle(platform, component.bundle_hash) };
}

async function readComponent({ mongo }: Stores, id: string): Promise<RunnableComponent> {
  const component = await Components(mongo).findById(id, { code: 0 }).lean<RunnableComponent>();
  if (!component) throw notFound("component");
  components.set(id, component);
  return component;
}
