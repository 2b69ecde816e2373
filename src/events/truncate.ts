import { LIMITS } from "../limits/catalogue.ts";

/** Larger events are truncated in summaries (docs/rest-api.md#limits). */
export const SUMMARY_BYTES = LIMITS.summaryBytes.value;

const bytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? "null");

/** Shortens a text without splitting a surrogate pair. */
function shorten(text: string, length: number): string {
  if (text.length <= length) return text;
  const cut = text.slice(0, length);
  return `${/[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut}…`;
}

interface Bounds {
  string: number;
  entries: number;
  depth: number;
}

function cut(value: unknown, bounds: Bounds, depth = 0): unknown {
  if (typeof value === "string") return shorten(value, bounds.string);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    if (depth >= bounds.depth) return [];
    return value.slice(0, bounds.entries).map(entry => cut(entry, bounds, depth + 1));
  }
  if (depth >= bounds.depth) return {};
  const entries = Object.entries(value).slice(0, bounds.entries * 4);
  // Assigning `__proto__` on a plain `{}` would set its prototype.
  return Object.fromEntries(entries.map(([key, entry]) => [key, cut(entry, bounds, depth + 1)]));
}

/** Stricter step by step until the value fits; the last bounds keep only the outermost shape. */
const BOUNDS: Bounds[] = [
  { string: 256, entries: 16, depth: 8 },
  { string: 96, entries: 8, depth: 6 },
  { string: 48, entries: 4, depth: 4 },
  { string: 24, entries: 2, depth: 3 },
  { string: 8, entries: 1, depth: 2 },
  { string: 0, entries: 0, depth: 0 },
];

/**
 * Truncates a JSON value to at most SUMMARY_BYTES without changing its outer shape: long texts and lists are shortened, deep
 * parts emptied. `truncated` is true if anything was cut. `size`: how many bytes its JSON has, if that is known already.
 */
export function truncate(value: unknown, size = bytes(value)): { value: unknown; truncated: boolean } {
  if (size <= SUMMARY_BYTES) return { value, truncated: false };
  for (const bounds of BOUNDS) {
    const shorter = cut(value, bounds);
    if (bytes(shorter) <= SUMMARY_BYTES) return { value: shorter, truncated: true };
  }
  return { value: Array.isArray(value) ? [] : typeof value === "string" ? "…" : {}, truncated: true };
}
