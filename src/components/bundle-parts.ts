import { createHash } from "node:crypto";
import { LIMITS } from "../limits/catalogue.ts";

/** A part is larger, unless it ends where own files begin or end. */
const MIN_BYTES = 64 * 1024;
const MAX_BYTES = LIMITS.bundleChunkBytes.value;
/** Of the files of packages, one in so many begins a part. */
const ONE_IN = 4;

const COMMENT = Buffer.from("\n// ");

/**
 * Cuts the text of a bundle into parts, so that bundles with equal packages have equal parts, wherever the component's own files
 * are between them. The bundle contains a comment with the file's name before each file. A part ends before and after own
 * files, and before files of packages that are chosen by their names, so that what is different before them does not matter.
 * Returns the text as a whole if it is small.
 */
export function cutBundle(text: Buffer): Buffer[] {
  if (text.length <= MIN_BYTES) return [text];
  const parts: Buffer[] = [];
  let start = 0;
  const cut = (end: number) => {
    for (; end - start > MAX_BYTES; start += MAX_BYTES) parts.push(text.subarray(start, start + MAX_BYTES));
    if (end > start) parts.push(text.subarray(start, end));
    start = end;
  };
  // What packages read is on the first line.
  cut(text.indexOf("\n") + 1);
  let wasOwn = true;
  for (let at = text.indexOf(COMMENT, start - 1); at !== -1; at = text.indexOf(COMMENT, at + 1)) {
    const name = nameAt(text, at + COMMENT.length);
    if (name === undefined) continue;
    const isOwn = name.startsWith("own");
    if (isOwn !== wasOwn || (at - start >= MIN_BYTES && isChosen(name))) cut(at + 1);
    wasOwn = isOwn;
  }
  cut(text.length);
  return parts;
}

/** Returns the name of a file in a comment, such as `npm:node_modules/ms/index.js`; undefined for any other comment. */
function nameAt(text: Buffer, start: number): string | undefined {
  const end = text.indexOf("\n", start);
  const name = text.toString("utf8", start, Math.min(end === -1 ? text.length : end, start + 1000));
  return /^(?:own|npm|missing)[a-z-]*:/.test(name) ? name : undefined;
}

const isChosen = (name: string): boolean =>
  (createHash("sha256").update(name).digest()[0] ?? 0) % ONE_IN === 0;

/**
 * A bundle of more bytes becomes a script, which takes a fraction of the memory to load (docs/decisions/0044-building-apart.md).
 * Releases before schema 10 could neither store nor load one of this size.
 */
const LARGE_BUNDLE_BYTES = 10 * 1024 * 1024;

/** Returns true for the size of a bundle that only releases since schema 10 can run. */
export const isLargeBundle = (bytes: number): boolean => bytes > LARGE_BUNDLE_BYTES;
