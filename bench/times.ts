/** Returns the quantile `q` (0 to 1) of ascending values. */
export const quantile = (sorted: ArrayLike<number>, q: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? 0;

const WARM_UP = 20;

/** Makes `calls` calls in turn after a warm-up of twenty; returns their milliseconds, ascending. */
export async function timesOf(calls: number, call: (n: number) => Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  for (let n = -WARM_UP; n < calls; n++) {
    const startedAt = performance.now();
    await call(n);
    if (n >= 0) times.push(performance.now() - startedAt);
  }
  return times.sort((a, b) => a - b);
}
