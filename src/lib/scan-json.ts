export interface JsonShape {
  /** How deeply arrays and objects are nested. */
  depth: number;
  /** About how many bytes of memory the parsed value takes. */
  parsedBytes: number;
}

/** A value in a JSON text: `json.slice(start, end)` is its own text. */
export interface JsonSpan extends JsonShape {
  start: number;
  end: number;
}

/** Which values to find: that of this member in the object that a text is, and in each object of its list of that name. */
export interface Wanted {
  member: string;
  list?: string | undefined;
}

/** Bytes of V8's heap for an array or object, with its place in the one around it. */
const CONTAINER_BYTES = 64;
/** The same for any other value, and for the entry of a key. */
const VALUE_BYTES = 24;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/**
 * Returns the shape of a JSON text without parsing it, and the values in it that are wanted, in order; both of a key that is
 * given twice. The memory of a parsed value can be twenty times its text: `[]` has two characters and takes 40 bytes. What
 * it returns of a text that is not JSON says nothing.
 */
export function scanJson(json: string, wanted?: Wanted): JsonShape & { found: JsonSpan[] } {
  const found: JsonSpan[] = [];
  let depth = 0;
  let deepest = 0;
  let containers = 0;
  let separators = 1;
  // Of the last string, which is a key if a colon follows.
  let stringStart = 0;
  let stringEnd = 0;
  let isInList = false;
  // The wanted value that is being read, and the counts of what came before it; none if `from` is negative.
  let from = -1;
  let fromDepth = 0;
  let before = { deepest: 0, containers: 0, separators: 0 };
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) {
      stringStart = at + 1;
      at = endOfString(json, stringStart);
      stringEnd = at;
    } else if (code === COLON) {
      separators++;
      if (wanted && from < 0 && (depth === 1 || (depth === 3 && isInList))) {
        const key = keyOf(json, stringStart, stringEnd);
        if (depth === 1) isInList = key === wanted.list;
        if (key !== wanted.member) continue;
        from = at + 1;
        fromDepth = depth;
        before = { deepest, containers, separators };
        deepest = depth;
      }
    } else if (code === OPEN_LIST || code === OPEN_OBJECT) {
      containers++;
      // What is not a list has no objects to look into.
      if (++depth === 2 && code === OPEN_OBJECT) isInList = false;
      if (depth > deepest) deepest = depth;
    } else if (code === COMMA || code === CLOSE_LIST || code === CLOSE_OBJECT) {
      if (from >= 0 && depth === fromDepth) {
        const [start, end] = withoutSpaces(json, from, at);
        const parsedBytes =
          end -
          start +
          (containers - before.containers) * CONTAINER_BYTES +
          (separators - before.separators + 1) * VALUE_BYTES;
        found.push({ start, end, depth: deepest - fromDepth, parsedBytes });
        deepest = Math.max(deepest, before.deepest);
        from = -1;
      }
      if (code === COMMA) separators++;
      else depth--;
    }
  }
  const parsedBytes = json.length + containers * CONTAINER_BYTES + separators * VALUE_BYTES;
  return { depth: deepest, parsedBytes, found };
}

/** Most strings are shorter, and a call of `indexOf` takes longer than to look at so many characters. */
const SHORT_STRING = 24;

/** Returns where the string ends whose characters begin at `from`: at its quotation mark, or at the end of the text. */
export function endOfString(json: string, from: number): number {
  for (let at = from; at < from + SHORT_STRING; at++) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) return at;
    if (code === BACKSLASH) break;
  }
  for (let end = json.indexOf('"', from); end >= 0; end = json.indexOf('"', end + 1)) {
    let escapes = 0;
    while (end - escapes > from && json.charCodeAt(end - escapes - 1) === BACKSLASH) escapes++;
    if (escapes % 2 === 0) return end;
  }
  return json.length;
}

/** A key may be written with escapes. */
function keyOf(json: string, start: number, end: number): string {
  const text = json.slice(start, end);
  return text.includes("\\") ? (JSON.parse(`"${text}"`) as string) : text;
}

function withoutSpaces(json: string, from: number, to: number): [start: number, end: number] {
  let [start, end] = [from, to];
  while (start < end && json.charCodeAt(start) <= 0x20) start++;
  while (end > start && json.charCodeAt(end - 1) <= 0x20) end--;
  return [start, end];
}
