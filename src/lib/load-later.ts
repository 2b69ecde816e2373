import { createRequire } from "node:module";

/**
 * Returns a function that loads a CommonJS package at its first call, for packages that most processes never use. `from`
 * is the `import.meta.url` of the caller. Throws Node's error, which names the package. Not with `import()`: Node keeps
 * its failures until the process ends, also those of a moment without file descriptors; this one is tried again.
 */
export function loadLater<T>(name: string, from: string): () => T {
  const require = createRequire(from);
  return () => require(name) as T;
}
