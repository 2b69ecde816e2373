import { bodyParser } from "@koa/bodyparser";
import type { Context } from "koa";
import { AppError, type FieldError } from "../lib/errors.ts";
import { hasNulKey, isDeeperThan } from "../lib/json-shape.ts";
import { LIMITS } from "../limits/catalogue.ts";
import { jsonErrorIndex } from "./json-error-position.ts";

const MAX_DEPTH = LIMITS.jsonDepth.value;

const METHODS = ["POST", "PUT", "PATCH", "DELETE"];

/**
 * Reads the request body, which must be a JSON object; returns `{}` if there is none. The body of a GET is ignored.
 * Throws `invalid`, `too-large` (more than `maxBytes` after decompression) or `unsupported-media-type`.
 */
export type ReadBody = (ctx: Context) => Promise<Record<string, unknown>>;

const invalidBody = (message: string, path = ""): AppError => {
  const field: FieldError = { in: "body", path, message };
  return new AppError("invalid", `${path || "the body"} ${message}`, { fields: [field] });
};

/** The place is looked for in one go, which takes a microsecond for each token. */
const MAX_EXPLAINED_CHARS = 16 * 1024;

/** Says where a text stops being JSON, without quoting it; undefined if it is JSON, or too long to look. */
function explainSyntax(text: unknown): string | undefined {
  if (typeof text !== "string" || text.length > MAX_EXPLAINED_CHARS) return undefined;
  const index = jsonErrorIndex(text);
  if (index === null) return undefined;
  const before = text.slice(0, index).split("\n");
  const place = `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
  return index === text.length ? `is not complete JSON: it ends at ${place}` : `is not JSON: ${place}`;
}

/** Translates the parser's error by its status, because its message may quote the body. */
function translate(error: unknown, maxBytes: number): unknown {
  const status = error instanceof Error && "status" in error ? error.status : undefined;
  if (status === 413) return new AppError("too-large", `the body is larger than ${maxBytes} bytes`);
  if (status === 415) return new AppError("unsupported-media-type", "the body's encoding is not supported");
  // A corrupt compressed body fails in zlib, whose errors have no status.
  const isZlib = error instanceof Error && "code" in error && String(error.code).startsWith("Z_");
  if (status === 400 || isZlib) {
    const text = status === 400 && error instanceof SyntaxError && "body" in error ? error.body : undefined;
    const isObject = typeof text !== "string" || text.trimStart().startsWith("{");
    const keys = isObject ? " without keys such as __proto__" : "";
    return invalidBody(explainSyntax(text) ?? `must be a JSON object${keys}`);
  }
  return error;
}

/** Throws `invalid` for a body that no store can hold: nested too deeply, or a key with NUL. */
function checkShape(body: object): void {
  if (isDeeperThan(body, MAX_DEPTH)) throw invalidBody(`is nested deeper than ${MAX_DEPTH} levels`);
  if (hasNulKey(body)) throw invalidBody("contains a key with a NUL character");
}

/** Returns a reader for bodies of at most `maxBytes` bytes. */
export function createReadBody(maxBytes: number): ReadBody {
  const parse = bodyParser({ enableTypes: ["json"], parsedMethods: METHODS, jsonLimit: maxBytes });
  return async ctx => {
    if (!METHODS.includes(ctx.method)) return {};
    const { headers } = ctx.req;
    const isEmpty =
      headers["transfer-encoding"] === undefined && Number(headers["content-length"] ?? 0) === 0;
    if (isEmpty) return {};
    if (!ctx.is("application/json")) {
      throw new AppError("unsupported-media-type", "a request body must have Content-Type: application/json");
    }
    try {
      await parse(ctx, async () => {});
    } catch (error) {
      throw translate(error, maxBytes);
    }
    const body: unknown = ctx.request.body;
    if (typeof body !== "object" || body === null || Array.isArray(body)) {
      throw invalidBody("must be a JSON object");
    }
    checkShape(body);
    return body as Record<string, unknown>;
  };
}
