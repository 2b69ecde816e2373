/** The value below which the share `q` of the sorted ones lies. */
export const quantile = (sorted: ArrayLike<number>, q: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? 0;

const WARM_UP = 20;

/** Milliseconds of each of so many calls, one after the other, ascending; the first twenty warm up and do not count. */
export async function timesOf(calls: number, call: (n: number) => Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  for (let n = -WARM_UP; n < calls; n++) {
    const startedAt = performance.now();
    await call(n);
    if (n >= 0) times.push(performance.now() - startedAt);
  }
  return times.sort((a, b) => a - b);
}
