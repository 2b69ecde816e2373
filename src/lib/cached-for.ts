/**
 * Returns a function that calls `load` at most once at a time, and keeps its result for `ms` milliseconds after it
 * arrived. A rejection is not kept.
 */
export function cachedFor<T>(
  ms: number,
  load: () => Promise<T>,
  now: () => number = () => performance.now(),
): () => Promise<T> {
  let kept: { result: Promise<T>; untilMs: number } | undefined;
  return () => {
    if (kept && now() < kept.untilMs) return kept.result;
    const entry = { result: load(), untilMs: Number.POSITIVE_INFINITY };
    kept = entry;
    entry.result.then(
      () => {
        entry.untilMs = now() + ms;
      },
      () => {
        kept = undefined;
      },
    );
    return entry.result;
  };
}
