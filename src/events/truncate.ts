import { endOfString } from "../lib/scan-json.ts";
import { LIMITS } from "../limits/catalogue.ts";

/** Larger events are truncated in summaries (docs/rest-api.md#limits). */
const SUMMARY_BYTES = LIMITS.summaryBytes.value;

/** A longer number is left out: it has no shorter form that is the same number. */
const NUMBER_CHARS = 64;

/** What is kept of each text, list and object, and how many levels of them. */
export interface Bounds {
  string: number;
  entries: number;
  depth: number;
}

/** Stricter step by step until the text fits; the last bounds keep only the outermost shape. */
const BOUNDS: readonly Bounds[] = [
  { string: 256, entries: 16, depth: 8 },
  { string: 96, entries: 8, depth: 6 },
  { string: 48, entries: 4, depth: 4 },
  { string: 24, entries: 2, depth: 3 },
  { string: 8, entries: 1, depth: 2 },
  { string: 0, entries: 0, depth: 0 },
];

/**
 * Truncates a JSON text to at most `most` bytes, those of a summary by default, without changing its outer shape: long texts and lists are
 * shortened, deep parts emptied. It is not parsed, so what is left is as it was written. `truncated` is true if anything
 * was cut.
 */
export function truncateJson(
  json: string,
  most = SUMMARY_BYTES,
  steps = BOUNDS,
): { json: string; truncated: boolean } {
  if (fits(json, most)) return { json, truncated: false };
  let shorter = json;
  for (const bounds of steps) {
    shorter = new Cutter(shorter, bounds).cut();
    if (fits(shorter, most)) return { json: shorter, truncated: true };
  }
  return { json: '"…"', truncated: true };
}

const fits = (json: string, most: number): boolean => json.length <= most && Buffer.byteLength(json) <= most;

/** Shortens a text without splitting a surrogate pair. */
function shorten(text: string, length: number): string {
  if (text.length <= length) return text;
  const cut = text.slice(0, length);
  return `${/[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut}…`;
}

const [QUOTE, COMMA, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x22, 0x2c, 0x5b, 0x5d, 0x7b, 0x7d];

/** Reads a JSON text once from its beginning, and writes what is within the bounds. */
class Cutter {
  readonly #json: string;
  readonly #bounds: Bounds;
  #at = 0;

  constructor(json: string, bounds: Bounds) {
    this.#json = json;
    this.#bounds = bounds;
  }

  cut(depth = 0): string {
    const first = this.#next();
    if (first === QUOTE) return this.#cutString();
    if (first === OPEN_LIST) return `[${this.#entries(this.#bounds.entries, depth, false)}]`;
    if (first === OPEN_OBJECT) return `{${this.#entries(this.#bounds.entries * 4, depth, true)}}`;
    const word = this.#word();
    return word.length > NUMBER_CHARS ? "null" : word;
  }

  /** Skips spaces; returns the code of the next character. */
  #next(): number {
    while (this.#json.charCodeAt(this.#at) <= 0x20) this.#at++;
    return this.#json.charCodeAt(this.#at);
  }

  /** Reads a number, `true`, `false` or `null`. */
  #word(): string {
    const from = this.#at;
    for (; this.#at < this.#json.length; this.#at++) {
      const code = this.#json.charCodeAt(this.#at);
      if (code <= 0x20 || code === COMMA || code === CLOSE_LIST || code === CLOSE_OBJECT) break;
    }
    return this.#json.slice(from, this.#at);
  }

  /** Reads a string, with its quotation marks. */
  #string(): string {
    const from = this.#at;
    this.#at = endOfString(this.#json, from + 1) + 1;
    return this.#json.slice(from, this.#at);
  }

  #cutString(): string {
    const token = this.#string();
    const most = this.#bounds.string;
    if (token.length - 2 <= most) return token;
    const text = JSON.parse(token) as string;
    return text.length <= most ? token : JSON.stringify(shorten(text, most));
  }

  /** Reads the first entries of an array or object, and what follows them up to its end. */
  #entries(most: number, depth: number, inObject: boolean): string {
    this.#at++;
    let entries = "";
    for (let count = 0; depth < this.#bounds.depth && count < most; count++) {
      const code = this.#next();
      if (code === CLOSE_LIST || code === CLOSE_OBJECT) break;
      if (count > 0) entries += ",";
      if (inObject) {
        entries += `${this.#string()}:`;
        this.#next();
        this.#at++;
      }
      entries += this.cut(depth + 1);
      if (this.#next() !== COMMA) break;
      this.#at++;
    }
    this.#skipToEnd();
    return entries;
  }

  /** Skips the rest of the innermost array or object that is open. */
  #skipToEnd(): void {
    const json = this.#json;
    let at = this.#at;
    for (let open = 1; open > 0 && at < json.length; at++) {
      const code = json.charCodeAt(at);
      if (code === QUOTE) at = endOfString(json, at + 1);
      else if (code === OPEN_LIST || code === OPEN_OBJECT) open++;
      else if (code === CLOSE_LIST || code === CLOSE_OBJECT) open--;
    }
    this.#at = at;
  }
}
