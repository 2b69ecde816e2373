import type { Row } from "./compare.ts";

/** How many deviations there are in all. */
export function deviations(rows: Row[]): number {
  return rows.reduce((sum, { isDeviation, count }) => sum + (isDeviation ? count : 0), 0);
}

/** The deviations alone, each with its first examples: what a reader of a test's message needs, who may see only its head. */
export function deviating(rows: Row[]): string {
  return listed(rows.filter(({ isDeviation, count }) => isDeviation && count > 0)).join("\n");
}

/** Each row's number, and its examples below it. */
function listed(rows: Row[]): string[] {
  return rows.flatMap(({ what, count, examples }) => [
    `${what}: ${count}`,
    ...examples.map(example => `  ${example}`),
  ]);
}

/** The result as a table; the first examples of each deviation follow it. */
export function table(rows: Row[]): string {
  const width = Math.max(...rows.map(({ what }) => what.length));
  const lines = rows.map(({ what, count, isDeviation }) => {
    const mark = isDeviation && count > 0 ? "  <-- deviation" : "";
    return `  ${what.padEnd(width)}  ${String(count).padStart(8)}${mark}`;
  });
  const examples = listed(rows.filter(row => row.examples.length > 0));
  return [...lines, ...(examples.length > 0 ? ["", ...examples] : [])].join("\n");
}
