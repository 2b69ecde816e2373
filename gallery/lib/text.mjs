/** Returns a text of at most so many UTF-16 units: a longer one ends with an ellipsis, and not within a character. */
export function cut(text, most) {
  if (text.length <= most) return text;
  return `${text.slice(0, most - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}

/** Returns a text that takes at most so many bytes in JSON, cut alike. */
export function cutToBytes(text, most) {
  let shown = text;
  for (let bytes = bytesOf(shown); bytes > most; bytes = bytesOf(shown)) {
    shown = cut(shown, Math.max(1, Math.floor((shown.length * most) / bytes) - 1));
  }
  return shown;
}

const bytesOf = text => Buffer.byteLength(JSON.stringify(text));
