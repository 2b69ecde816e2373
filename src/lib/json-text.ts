import { randomBytes } from "node:crypto";
import { type JsonShape, scanJson, type Wanted } from "./scan-json.ts";

/** Texts that `stringifyJson` has met, while it runs. */
let met: string[] | null = null;
/** Random, so that no text of anybody's has it. */
const MARK = `json-text-${randomBytes(16).toString("hex")}`;

/**
 * A JSON value as its text, which may be wherever the value may be: what is passed on is not parsed, and so neither
 * its numbers nor its order of keys change. `stringifyJson` writes the text itself; `JSON.stringify` writes the value.
 */
export class JsonText {
  readonly text: string;
  #shape: JsonShape | undefined;
  #parsed: { value: unknown } | undefined;

  constructor(text: string, shape?: JsonShape) {
    this.text = text;
    this.#shape = shape;
  }

  get shape(): JsonShape {
    this.#shape ??= scanJson(this.text);
    return this.#shape;
  }

  /** The value, for those who look into it; parsed once. */
  get value(): unknown {
    this.#parsed ??= { value: JSON.parse(this.text) };
    return this.#parsed.value;
  }

  toJSON(): unknown {
    if (met === null) return this.value;
    met.push(this.text);
    return MARK;
  }
}

/** Returns a value as a text; a text as it is. */
export const jsonTextOf = (value: unknown): JsonText =>
  value instanceof JsonText ? value : new JsonText(JSON.stringify(value) ?? "null");

/** As `JSON.stringify`, with each JsonText in the value as it is. */
export function stringifyJson(value: unknown): string {
  const outer = met;
  const texts: string[] = [];
  met = texts;
  try {
    const json = JSON.stringify(value);
    if (texts.length === 0) return json;
    // One part more than texts, which were met in their order.
    const [first = "", ...parts] = json.split(`"${MARK}"`);
    return parts.reduce((written, part, i) => written + texts[i] + part, first);
  } finally {
    met = outer;
  }
}

/**
 * As `JSON.parse`, but each wanted value is a JsonText; of a key that is given twice, the last one counts, as always. The
 * wanted values are not checked: `json` must be JSON.
 */
export function parseAround(json: string, wanted: Wanted): unknown {
  const { found } = scanJson(json, wanted);
  let around = "";
  let last = 0;
  for (const [i, { start, end }] of found.entries()) {
    around += json.slice(last, start) + i;
    last = end;
  }
  const value = JSON.parse(around + json.slice(last)) as Record<string, unknown> | null;
  const put = (object: unknown) => {
    if (typeof object !== "object" || object === null || !Object.hasOwn(object, wanted.member)) return;
    const members = object as Record<string, unknown>;
    const span = found[members[wanted.member] as number];
    if (span) members[wanted.member] = new JsonText(json.slice(span.start, span.end), span);
  };
  put(value);
  const list = wanted.list === undefined ? undefined : value?.[wanted.list];
  if (Array.isArray(list)) for (const one of list) put(one);
  return value;
}

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
