import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { AppError, type FieldError } from "../../lib/errors.ts";
import { charsetOf, withoutMark } from "./charset.ts";
import { readBytes } from "./read-bytes.ts";

export interface BodyText {
  /** As they were sent, but for their `Content-Encoding`. */
  bytes: Buffer;
  /** Without a byte order mark. */
  text: string;
}

const SUPPORTED = ["utf-8", "utf8", "us-ascii"];

/**
 * Reads a body that must be UTF-8, of at most `maxBytes` bytes. Throws as `readBytes` does, `unsupported-media-type` for
 * another charset, and `invalid` for bytes that are not UTF-8.
 */
export async function readText(message: IncomingMessage, maxBytes: number): Promise<BodyText> {
  const charset = charsetOf(message.headers["content-type"] ?? "");
  if (charset !== undefined && !SUPPORTED.includes(charset)) {
    throw new AppError(
      "unsupported-media-type",
      `a request body must be UTF-8, and not ${charset.slice(0, 40)}`,
    );
  }
  const bytes = await readBytes(message, { maxBytes });
  if (!isUtf8(bytes)) {
    const field: FieldError = { in: "body", path: "", message: "is not UTF-8" };
    throw new AppError("invalid", "the body is not UTF-8", { fields: [field] });
  }
  return { bytes, text: withoutMark(bytes.toString("utf8")) };
}
