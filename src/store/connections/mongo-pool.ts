/**
 * Connections to MongoDB that a process may open, by its role. A request of the web process may wait seconds for a search, so it
 * has room for many; a worker writes for many jobs at once, and holds a connection for milliseconds.
 */
const SIZES = new Map([
  ["web", 50],
  ["all", 50],
  ["deletions", 10],
  ["cli", 5],
]);
const WORKER = 20;

/** A connection that nothing used for so long is closed, so that processes without work hold few. Milliseconds. */
const IDLE_MS = 60_000;

/** Returns the driver's options for the pool of a process. `maxPoolSize` and `maxIdleTimeMS` in the URL win. */
export function mongoPool(url: string, process: string): { maxPoolSize?: number; maxIdleTimeMS?: number } {
  const isGiven = (name: string) => new RegExp(`[?&]${name}=`, "i").test(url);
  return {
    ...(!isGiven("maxPoolSize") && { maxPoolSize: SIZES.get(process) ?? WORKER }),
    ...(!isGiven("maxIdleTimeMS") && { maxIdleTimeMS: IDLE_MS }),
  };
}
