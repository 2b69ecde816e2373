import { bodyParser } from "@koa/bodyparser";
import type { Context } from "koa";
import { AppError, type FieldError } from "../lib/errors.ts";

/** Deeper than any configuration; deeper still, code that walks a value by recursion would end in a stack overflow. */
const MAX_DEPTH = 50;

const METHODS = ["POST", "PUT", "PATCH", "DELETE"];

/** Reads a JSON object of at most `maxBytes` (after decompression). GET bodies are not looked at. */
export type ReadBody = (ctx: Context) => Promise<Record<string, unknown>>;

const invalidBody = (message: string, path = ""): AppError => {
  const field: FieldError = { in: "body", path, message };
  return new AppError("invalid", `${path || "the body"} ${message}`, { fields: [field] });
};

/** What the parser threw, by its status: its words may quote the body. */
function translate(error: unknown, maxBytes: number): unknown {
  const status = error instanceof Error && "status" in error ? error.status : undefined;
  if (status === 413) return new AppError("too-large", `the body is over ${maxBytes} bytes`);
  if (status === 415) return new AppError("unsupported-media-type", "the body's encoding is not supported");
  // A broken compressed body fails in zlib, which knows no status.
  const isZlib = error instanceof Error && "code" in error && String(error.code).startsWith("Z_");
  if (status === 400 || isZlib)
    return invalidBody("is no valid JSON object, or holds a key such as __proto__");
  return error;
}

/** Refuses what no store could keep: too deep a nesting, and NUL in a key. Walks without recursion. */
function checkShape(body: object): void {
  let level: object[] = [body];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) throw invalidBody(`is nested deeper than ${MAX_DEPTH} levels`);
    const next: object[] = [];
    for (const value of level) {
      for (const [key, inner] of Object.entries(value)) {
        if (key.includes("\0")) throw invalidBody("holds a key with a NUL character");
        if (typeof inner === "object" && inner !== null) next.push(inner);
      }
    }
    level = next;
  }
}

export function createReadBody(maxBytes: number): ReadBody {
  const parse = bodyParser({ enableTypes: ["json"], parsedMethods: METHODS, jsonLimit: maxBytes });
  return async ctx => {
    if (!METHODS.includes(ctx.method)) return {};
    const { headers } = ctx.req;
    const isEmpty =
      headers["transfer-encoding"] === undefined && Number(headers["content-length"] ?? 0) === 0;
    if (isEmpty) return {};
    if (!ctx.is("application/json")) {
      throw new AppError("unsupported-media-type", "a request body needs Content-Type: application/json");
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
