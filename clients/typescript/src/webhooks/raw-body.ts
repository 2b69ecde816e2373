import { bodyParsed, WebhookError } from "./webhook-error.ts";

/** Larger than any event with what belongs to it. */
export const MAX_BYTES = 2 * 1024 * 1024;

const tooLarge = (maxBytes: number) =>
  new WebhookError("too-large", `the body has more than ${maxBytes} bytes`);

/** Checks what the sender says, so that nothing of a larger body is read. */
export function checkLength(contentLength: string | null | undefined, maxBytes = MAX_BYTES): void {
  if (Number(contentLength ?? 0) > maxBytes) throw tooLarge(maxBytes);
}

/** Reads a body to its end. Throws WebhookError beyond `maxBytes`. */
export async function readBytes(
  chunks: AsyncIterable<Uint8Array | string>,
  maxBytes = MAX_BYTES,
): Promise<Uint8Array> {
  const encoder = new TextEncoder();
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    const part = typeof chunk === "string" ? encoder.encode(chunk) : chunk;
    length += part.length;
    if (length > maxBytes) throw tooLarge(maxBytes);
    parts.push(part);
  }
  const body = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    body.set(part, at);
    at += part.length;
  }
  return body;
}

/** The body that something before kept as it came (`express.raw()`, `rawBody` of many parsers and platforms). */
export function keptBody(...candidates: unknown[]): string | Uint8Array | undefined {
  for (const one of candidates) if (typeof one === "string" || one instanceof Uint8Array) return one;
  return undefined;
}

/** Throws if the stream of a request can't be read any more, because something before has parsed it. */
export function checkUnread(isRead: boolean, parsed: unknown): void {
  if (isRead) {
    throw bodyParsed(
      parsed === undefined
        ? "the body was read before it came here"
        : "the body was parsed before it came here",
    );
  }
}
