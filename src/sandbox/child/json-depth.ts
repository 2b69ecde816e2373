/** Returns how deeply arrays and objects are nested in a JSON text; 0 for a text too short to matter. */
export function jsonDepth(json: string): number {
  // A text this short can't be nested deeply enough to matter, and most are.
  if (json.length < 64) return 0;
  let depth = 0;
  let deepest = 0;
  let isInString = false;
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code === 0x22) isInString = !isInString;
    else if (code === 0x5c && isInString) at++;
    else if (isInString) continue;
    else if (code === 0x5b || code === 0x7b) deepest = Math.max(deepest, ++depth);
    else if (code === 0x5d || code === 0x7d) depth--;
  }
  return deepest;
}
