const MAX_DEPTH = 6;

/**
 * Returns the JSON of plain values without fields of some names, cut to so many characters; undefined for anything else, such
 * as a stream or a socket. It takes no longer for a large value than for a small one.
 */
export function shownJson(value: unknown, maxChars: number, without: string[] = []): string | undefined {
  let left = maxChars;
  const cutToFit = (text: string): string => {
    const taken = text.slice(0, Math.max(0, left));
    left -= text.length;
    return taken;
  };
  const listed = (
    one: Iterable<[string | undefined, unknown]>,
    [open, close]: string,
    depth: number,
  ): string => {
    let [text, isFirst] = [cutToFit(open as string), true];
    for (const [name, item] of one) {
      if (left <= 0) return text;
      if (!isShown(item) || (name !== undefined && without.includes(name))) continue;
      if (!isFirst) text += cutToFit(",");
      if (name !== undefined) text += cutToFit(`${JSON.stringify(name.slice(0, 200))}:`);
      text += write(item, depth + 1);
      isFirst = false;
    }
    return text + cutToFit(close as string);
  };
  const write = (one: unknown, depth: number): string => {
    if (one instanceof Error) return cutToFit(JSON.stringify(String(one.message).slice(0, maxChars)));
    if (typeof one === "string") return cutToFit(JSON.stringify(one.slice(0, maxChars)));
    if (typeof one !== "object" || one === null) return cutToFit(String(one));
    if (depth >= MAX_DEPTH) return cutToFit('"…"');
    return Array.isArray(one) ? listed(itemsOf(one), "[]", depth) : listed(Object.entries(one), "{}", depth);
  };
  return typeof value === "object" && value !== null && isShown(value) && !(value instanceof Error)
    ? write(value, 0)
    : undefined;
}

function* itemsOf(list: unknown[]): Iterable<[undefined, unknown]> {
  for (const item of list) yield [undefined, item];
}

function isShown(value: unknown): boolean {
  if (typeof value === "function" || typeof value === "symbol" || value === undefined) return false;
  if (typeof value !== "object" || value === null || Array.isArray(value) || value instanceof Error)
    return true;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
