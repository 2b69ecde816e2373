/** Returns a text of at most so many UTF-16 units: a longer one ends with an ellipsis, and not within a character. */
export function cut(text, most) {
  if (text.length <= most) return text;
  return `${text.slice(0, most - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}
