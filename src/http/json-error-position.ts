const SPACE = "[ \\t\\n\\r]+";
const PLAIN = '[^"\\\\\\u0000-\\u001f]*';
// No repetition of a repetition, which would take exponential time for a string without an end.
const TEXT = `"${PLAIN}(?:\\\\(?:["\\\\/bfnrt]|u[0-9a-fA-F]{4})${PLAIN})*"`;
const NUMBER = "-?(?:0|[1-9][0-9]*)(?:\\.[0-9]+)?(?:[eE][+-]?[0-9]+)?";
const TOKEN = new RegExp(`(${SPACE})|[{}[\\]:,]|(${TEXT})|${NUMBER}|true|false|null`, "y");

/** What may come next: `first` ends an empty object or array too. */
type Expected = "value" | "first" | "key" | "colon" | "next" | "nothing";

/** Returns the index at which a text stops being JSON; its length if it only breaks off; null if it is JSON. */
export function jsonErrorIndex(text: string): number | null {
  const open: string[] = [];
  let expected: Expected = "value";
  TOKEN.lastIndex = 0;
  for (let at = 0; at < text.length; at = TOKEN.lastIndex) {
    TOKEN.lastIndex = at;
    const [token, space, string] = TOKEN.exec(text) ?? [];
    if (token === undefined) return at;
    if (space !== undefined) continue;
    const after = follow(token, string !== undefined, expected, open);
    if (after === null) return at;
    expected = after;
  }
  return expected === "nothing" ? null : text.length;
}

/** Returns what may follow a token; null if the token itself is not expected. `open` are the brackets around it. */
function follow(token: string, isString: boolean, expected: Expected, open: string[]): Expected | null {
  const inObject = open.at(-1) === "{";
  const close = () => {
    open.pop();
    return open.length === 0 ? "nothing" : "next";
  };
  if (token === "}" || token === "]") {
    const isRight = (token === "}") === inObject && open.length > 0;
    return isRight && (expected === "first" || expected === "next") ? close() : null;
  }
  if (token === ",") return expected === "next" ? (inObject ? "key" : "value") : null;
  if (token === ":") return expected === "colon" ? "value" : null;
  if (expected === "key" || (expected === "first" && inObject)) return isString ? "colon" : null;
  if (expected !== "value" && expected !== "first") return null;
  if (token === "{" || token === "[") {
    open.push(token);
    return "first";
  }
  return open.length === 0 ? "nothing" : "next";
}
