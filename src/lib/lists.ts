/** Splits `a,b,c`; blanks around the commas are dropped, and an empty text is an empty list. */
export const splitList = (text: string): string[] =>
  text
    .split(",")
    .map(word => word.trim())
    .filter(Boolean);

/** Groups items by key, in order; Node 20 has no `Map.groupBy`. */
export function groupBy<T>(items: T[], key: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(key(item));
    if (group) group.push(item);
    else groups.set(key(item), [item]);
  }
  return groups;
}
