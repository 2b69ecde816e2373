import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import { type Component, Components } from "../models/component.ts";
import type { Platform } from "../platform.ts";
import { hashOfFile } from "./module-graph.ts";
import type { GivenFiles } from "./read-files.ts";

const pack = promisify(gzip);
const unpack = promisify(gunzip);

/** Returns the files of a component as its document has them. */
export const packFiles = (given: GivenFiles): Promise<Buffer> => pack(JSON.stringify(given));

/** Stores the files of a component that a release saved which kept none of them. */
export async function addFiles(
  { mongo }: Pick<Platform, "mongo">,
  id: string,
  given: GivenFiles,
): Promise<void> {
  const files = await packFiles(given);
  await Components(mongo).updateOne({ _id: id, files: { $exists: false } }, { $set: { files } });
}

/** Returns the files of a component, none if its code is all of it, and null if they were not kept. */
export async function readFiles(
  { mongo }: Pick<Platform, "mongo">,
  { _id, code, code_hash }: Component,
): Promise<{ files: Record<string, string> | null; entry: string | null }> {
  const stored = await Components(mongo)
    .findById(_id, { files: 1 })
    .lean<{ files?: { buffer: Buffer } } | null>();
  if (stored?.files) return JSON.parse((await unpack(stored.files.buffer)).toString());
  return { files: code_hash === hashOfFile(code) ? {} : null, entry: null };
}
