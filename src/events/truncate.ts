import { endOfString } from "../lib/scan-json.ts";
import { LIMITS } from "../limits/catalogue.ts";

/** Larger events are truncated in summaries (docs/rest-api.md#limits). */
const SUMMARY_BYTES = LIMITS.summaryBytes.value;

/** A longer number is left out: it has no shorter form that is the same number. */
const NUMBER_CHARS = 64;

interface Bounds {
  string: number;
  entries: number;
  depth: number;
}

/** Stricter step by step until the text fits; the last bounds keep only the outermost shape. */
const BOUNDS: Bounds[] = [
  { string: 256, entries: 16, depth: 8 },
  { string: 96, entries: 8, depth: 6 },
  { string: 48, entries: 4, depth: 4 },
  { string: 24, entries: 2, depth: 3 },
  { string: 8, entries: 1, depth: 2 },
  { string: 0, entries: 0, depth: 0 },
];

/**
 * Truncates a JSON text to at most `LIMITS.summaryBytes` without changing its outer shape: long texts and lists are
 * shortened, deep parts emptied. It is not parsed, so what is left is as it was written. `truncated` is true if anything
 * was cut.
 */
export function truncateJson(json: string): { json: string; truncated: boolean } {
  if (fits(json)) return { json, truncated: false };
  for (const bounds of BOUNDS) {
    const shorter = new Cutter(json, bounds).cut();
    if (fits(shorter)) return { json: shorter, truncated: true };
  }
  return { json: '"…"', truncated: true };
}

const fits = (json: string): boolean =>
  json.length <= SUMMARY_BYTES && Buffer.byteLength(json) <= SUMMARY_BYTES;

/** Shortens a text without splitting a surrogate pair. */
function shorten(text: string, length: number): string {
  if (text.length <= length) return text;
  const cut = text.slice(0, length);
  return `${/[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut}…`;
}

const SPACES = /\s*/y;
/** A number, `true`, `false` or `null`. */
const WORD = /[^\s,\]}]*/y;
const BRACKET_OR_STRING = /[[\]{}"]/g;

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
    this.#skip(SPACES);
    const first = this.#json[this.#at];
    if (first === '"') return this.#cutString();
    if (first === "[") return `[${this.#entries(this.#bounds.entries, depth, () => this.cut(depth + 1))}]`;
    if (first === "{") {
      const entry = () => `${this.#string()}:${this.#afterColon(() => this.cut(depth + 1))}`;
      return `{${this.#entries(this.#bounds.entries * 4, depth, entry)}}`;
    }
    const word = this.#skip(WORD);
    return word.length > NUMBER_CHARS ? "null" : word;
  }

  #skip(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const [skipped = ""] = pattern.exec(this.#json) ?? [];
    this.#at += skipped.length;
    return skipped;
  }

  /** Reads a string, with its quotation marks. */
  #string(): string {
    this.#skip(SPACES);
    const from = this.#at;
    this.#at = endOfString(this.#json, from + 1) + 1;
    return this.#json.slice(from, this.#at);
  }

  #cutString(): string {
    const token = this.#string();
    if (token.length - 2 <= this.#bounds.string) return token;
    const text = JSON.parse(token) as string;
    const shorter = shorten(text, this.#bounds.string);
    return shorter === text ? token : JSON.stringify(shorter);
  }

  #afterColon(read: () => string): string {
    this.#skip(SPACES);
    this.#at += 1;
    return read();
  }

  /** Reads the first entries of an array or object, and what follows them up to its end. */
  #entries(most: number, depth: number, read: () => string): string {
    this.#at += 1;
    const entries: string[] = [];
    for (; depth < this.#bounds.depth && entries.length < most; ) {
      this.#skip(SPACES);
      if ("]}".includes(this.#json[this.#at] ?? "")) break;
      entries.push(read());
      this.#skip(SPACES);
      if (this.#json[this.#at] !== ",") break;
      this.#at += 1;
    }
    this.#skipToEnd();
    return entries.join(",");
  }

  /** Skips the rest of the innermost array or object that is open. */
  #skipToEnd(): void {
    for (let open = 1; open > 0 && this.#at < this.#json.length; ) {
      BRACKET_OR_STRING.lastIndex = this.#at;
      const found = BRACKET_OR_STRING.exec(this.#json);
      if (!found) return;
      const [mark] = found;
      this.#at = mark === '"' ? endOfString(this.#json, found.index + 1) + 1 : found.index + 1;
      if (mark === "[" || mark === "{") open += 1;
      else if (mark !== '"') open -= 1;
    }
  }
}
