export interface JsonShape {
  /** How deeply arrays and objects are nested. */
  depth: number;
  /** About how many bytes of memory the parsed value takes. */
  parsedBytes: number;
}

/** Bytes of V8's heap for an array or object, with its place in the one around it. */
const CONTAINER_BYTES = 64;
/** The same for any other value, and for the entry of a key. */
const VALUE_BYTES = 24;

/**
 * Returns the shape of a JSON text, without parsing it. The memory of a parsed value can be twenty times its text: `[]` has
 * two characters and takes 40 bytes.
 */
export function jsonShape(json: string): JsonShape {
  let [depth, deepest, containers, separators] = [0, 0, 0, 1];
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code === 0x22) at = endOfString(json, at + 1);
    else if (code === 0x2c || code === 0x3a) separators++;
    else if (code === 0x5b || code === 0x7b) {
      containers++;
      if (++depth > deepest) deepest = depth;
    } else if (code === 0x5d || code === 0x7d) depth--;
  }
  const parsedBytes = json.length + containers * CONTAINER_BYTES + separators * VALUE_BYTES;
  return { depth: deepest, parsedBytes };
}

/** Returns where the string ends whose characters begin at `from`: at its quotation mark, or at the end of the text. */
function endOfString(json: string, from: number): number {
  for (let end = json.indexOf('"', from); end >= 0; end = json.indexOf('"', end + 1)) {
    let escapes = 0;
    while (end - escapes > from && json.charCodeAt(end - escapes - 1) === 0x5c) escapes++;
    if (escapes % 2 === 0) return end;
  }
  return json.length;
}
