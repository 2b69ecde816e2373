/**
 * Divides a list into parts of at most `maxWeight` and `maxCount` entries, in order; a heavier entry is a part by itself.
 */
export function divide<T>(
  all: readonly T[],
  maxWeight: number,
  weigh: (entry: T) => number,
  maxCount = Number.POSITIVE_INFINITY,
): T[][] {
  const parts: T[][] = [];
  let weight = Number.POSITIVE_INFINITY;
  for (const entry of all) {
    const more = weigh(entry);
    weight += more;
    if (weight > maxWeight || parts.at(-1)?.length === maxCount) {
      parts.push([]);
      weight = more;
    }
    parts.at(-1)?.push(entry);
  }
  return parts;
}
