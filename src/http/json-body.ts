import type { Context } from "koa";
import { AppError, type FieldError } from "../lib/errors.ts";
import { isObject } from "../lib/json.ts";
import { findKey, hasNul, isDeeperThan } from "../lib/json-text.ts";
import { LIMITS } from "../limits/catalogue.ts";
import { readText } from "./body.ts";

const MAX_DEPTH = LIMITS.jsonDepth.value;

const METHODS = ["POST", "PUT", "PATCH", "DELETE"];

export interface JsonBody {
  fields: Record<string, unknown>;
  /** The text that they were parsed from; "" without a body. */
  text: string;
}

/**
 * Reads the request body, which must be a JSON object; returns no fields if there is none. The body of a GET is ignored.
 * Throws as `readText` does, `invalid` for another text and for what no store can hold, and `unsupported-media-type` for
 * another type.
 */
export type ReadBody = (ctx: Context) => Promise<JsonBody>;

const invalidBody = (message: string): AppError => {
  const field: FieldError = { in: "body", path: "", message };
  return new AppError("invalid", `the body ${message}`, { fields: [field] });
};

/** The place is looked for in one go, which takes a microsecond for each token. */
const MAX_EXPLAINED_CHARS = 16 * 1024;

/** Says where a text stops being JSON, without quoting it. */
function explainSyntax(text: string): string {
  const index = text.length > MAX_EXPLAINED_CHARS ? null : jsonErrorIndex(text);
  if (index === null) return "must be a JSON object";
  const before = text.slice(0, index).split("\n");
  const place = `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
  return index === text.length ? `is not complete JSON: it ends at ${place}` : `is not JSON: ${place}`;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Without its cause, whose message may quote the body.
    throw invalidBody(explainSyntax(text));
  }
}

/** Throws `invalid` for a body that no store can hold, or that could change a prototype where it is copied. */
export function checkShape(body: object): void {
  if (isDeeperThan(body, MAX_DEPTH)) throw invalidBody(`is nested deeper than ${MAX_DEPTH} levels`);
  const key = findKey(body, name => hasNul(name) || name === "__proto__");
  if (key === undefined) return;
  throw invalidBody(
    hasNul(key)
      ? "contains a key with a NUL character"
      : "must be a JSON object without keys such as __proto__",
  );
}

/**
 * Reads a body that is JSON, of at most `maxBytes` bytes; its value is undefined if it is empty. Throws as `readText` does,
 * `invalid` for another text, and `unsupported-media-type` for another type.
 */
export async function readJson(ctx: Context, maxBytes: number): Promise<{ value: unknown; text: string }> {
  if (!ctx.is("application/json")) {
    throw new AppError("unsupported-media-type", "a request body must have Content-Type: application/json");
  }
  const { text } = await readText(ctx.req, maxBytes);
  return { value: text === "" ? undefined : parse(text), text };
}

/** Returns a reader for bodies of at most `maxBytes` bytes. */
export function createReadBody(maxBytes: number): ReadBody {
  return async ctx => {
    const { headers } = ctx.req;
    const isEmpty =
      headers["transfer-encoding"] === undefined && Number(headers["content-length"] ?? 0) === 0;
    if (isEmpty || !METHODS.includes(ctx.method)) return { fields: {}, text: "" };
    const { value: body, text } = await readJson(ctx, maxBytes);
    if (body === undefined) return { fields: {}, text };
    if (!isObject(body)) {
      throw invalidBody("must be a JSON object");
    }
    checkShape(body);
    return { fields: body as Record<string, unknown>, text };
  };
}

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
