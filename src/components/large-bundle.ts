/**
 * A bundle of more bytes becomes a script, which takes a fraction of the memory to load (docs/decisions/0044-building-apart.md).
 * Releases before schema 10 could neither store nor load one of this size.
 */
const LARGE_BUNDLE_BYTES = 10 * 1024 * 1024;

/** Returns true for the size of a bundle that only releases since schema 10 can run. */
export const isLargeBundle = (bytes: number): boolean => bytes > LARGE_BUNDLE_BYTES;
