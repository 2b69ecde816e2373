/** Returns what is at a path of a value, such as `data.items[0].id`; undefined if nothing is. An empty path is the value itself. */
export function valueAt(value, path = "") {
  let found = value;
  for (const part of path.match(/[^.[\]"]+/g) ?? []) {
    if (found === null || typeof found !== "object" || !Object.hasOwn(found, part)) return undefined;
    found = found[part];
  }
  return found;
}

/** Returns a text with the values of its `{{paths}}`: nothing for what is not there, and the JSON of lists and objects. */
export const filled = (text, value) =>
  text.replace(/\{\{\s*([^{}]*?)\s*\}\}/g, (_, path) => asText(valueAt(value, path)));

/** Returns a value as a person reads it. */
export function asText(value) {
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
