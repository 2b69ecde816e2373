/** Calls `visit` for each key in a JSON value and returns how deeply arrays and objects are nested in it; does not recurse. */
function walk(value: unknown, mostLevels: number, visit: (key: string) => void): number {
  let level = isContainer(value) ? [value] : [];
  let depth = 0;
  for (; level.length > 0 && depth <= mostLevels; depth++) {
    const next: object[] = [];
    for (const container of level) {
      if (!Array.isArray(container)) for (const key in container) visit(key);
      for (const inner of Object.values(container)) if (isContainer(inner)) next.push(inner);
    }
    level = next;
  }
  return depth;
}

const isContainer = (value: unknown): value is object => typeof value === "object" && value !== null;

/**
 * Returns true if arrays and objects are nested in a JSON value more than `levels` deep. Every door of the platform calls
 * it (docs/limits.md): `JSON.parse` reads any depth, but `JSON.stringify` overflows the stack, and MongoDB stores
 * 100 levels.
 */
export function isDeeperThan(value: unknown, levels: number): boolean {
  return walk(value, levels, () => undefined) > levels;
}

/** Returns a key in a JSON value for which `isSought` is true; undefined without one. */
export function findKey(value: unknown, isSought: (key: string) => boolean): string | undefined {
  let found: string | undefined;
  walk(value, Number.POSITIVE_INFINITY, key => {
    if (found === undefined && isSought(key)) found = key;
  });
  return found;
}

/** True for a key with a NUL character, which MongoDB can't store. */
export const hasNul = (key: string): boolean => key.includes("\0");
