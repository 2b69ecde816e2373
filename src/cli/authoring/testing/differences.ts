import { isDeepStrictEqual } from "node:util";
import { isObject } from "../../../lib/json.ts";

const MAX_SHOWN = 10;
const MAX_CHARACTERS = 200;

/** Returns in one line each what differs between two JSON values, by its path; the first ten. */
export function differencesOf(expected: unknown, found: unknown, path: string): string[] {
  const all = [...walk(expected, found, path)];
  const more = all.length - MAX_SHOWN;
  return more > 0 ? [...all.slice(0, MAX_SHOWN), `${path}: ${more} more differences`] : all;
}

function* walk(expected: unknown, found: unknown, path: string): Generator<string> {
  if (isDeepStrictEqual(expected, found)) return;
  if (Array.isArray(expected) && Array.isArray(found)) {
    if (expected.length !== found.length) {
      yield `${path}: expected ${expected.length} of them, got ${found.length}`;
    }
    for (const at of Array(Math.max(expected.length, found.length)).keys()) {
      yield* walk(expected[at], found[at], `${path}[${at}]`);
    }
  } else if (isObject(expected) && isObject(found)) {
    for (const name of new Set([...Object.keys(expected), ...Object.keys(found)])) {
      yield* walk(expected[name], found[name], `${path}.${name}`);
    }
  } else yield `${path}: expected ${shown(expected)}, got ${shown(found)}`;
}

function shown(value: unknown): string {
  const text = value === undefined ? "nothing" : JSON.stringify(value);
  return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text;
}
