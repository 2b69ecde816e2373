import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { MIMEType, promisify, TextDecoder } from "node:util";
import { brotliDecompress, gunzip, inflate, type ZlibOptions } from "node:zlib";
import { AppError, type FieldError } from "../lib/errors.ts";
import { KB } from "../limits/limit.ts";

export interface BytesOptions {
  /** Before and after decompression. */
  maxBytes: number;
  /** Leaves a body with an unknown `Content-Encoding` as it is; by default it is rejected. */
  keepsUnknown?: boolean;
  /** Is called with each part of a body as it arrives, in bytes; throws if that is too much beside other bodies. */
  count?: (bytes: number) => void;
}

/** With `info`, Node also says how much of its input it has used; the types don't know. */
type Unpacked = { buffer: Buffer; engine: { bytesWritten: number } };
type Unpack = (body: Buffer, options: ZlibOptions & { info: true }) => Promise<Unpacked>;

const unzip = promisify(gunzip) as unknown as Unpack;
/** Those of every supported version of Node; zstd is not one of them. */
const UNPACK: Record<string, Unpack> = {
  gzip: unzip,
  "x-gzip": unzip,
  deflate: promisify(inflate) as unknown as Unpack,
  br: promisify(brotliDecompress) as unknown as Unpack,
};
const KNOWN = "gzip, deflate and br";

/** Each costs a decompression of up to `maxBytes`. */
const MAX_ENCODINGS = 2;

const tooLarge = (maxBytes: number, cause?: unknown) =>
  new AppError("too-large", `the body is larger than ${maxBytes / KB} KB`, { cause });
const invalid = (what: string, cause?: unknown) =>
  new AppError("invalid", `the body ${what}`, {
    ...{ fields: [{ in: "body", path: "", message: what }], cause },
  });

/**
 * Reads the body of a request and undoes its `Content-Encoding`: every request body of the platform comes through here. Throws
 * `too-large` for more than `maxBytes`, `invalid` for a body that breaks off or can't be decompressed, `unsupported-media-type`
 * for an unknown encoding, and what `count` throws. What a rejected body still sends is for `leaveEarly` to pass by.
 */
export async function readBytes(message: IncomingMessage, options: BytesOptions): Promise<Buffer> {
  const { maxBytes, count } = options;
  const unpacks = unpacksOf(message, options);
  let body = await collect(message, options);
  for (const unpack of unpacks) {
    if (body.length === 0) return body;
    body = await unpacked(body, unpack, maxBytes);
    count?.(body.length);
  }
  return body;
}

/** Returns how the body is unpacked, in this order. */
function unpacksOf({ headers }: IncomingMessage, { keepsUnknown = false }: BytesOptions): Unpack[] {
  const named = (headers["content-encoding"] ?? "").toLowerCase().split(",");
  const encodings = named.map(name => name.trim()).filter(name => name !== "" && name !== "identity");
  if (encodings.length > MAX_ENCODINGS) throw invalid(`has more than ${MAX_ENCODINGS} content encodings`);
  const unpacks = encodings.flatMap(name => (Object.hasOwn(UNPACK, name) ? (UNPACK[name] ?? []) : []));
  if (unpacks.length === encodings.length) return unpacks.reverse();
  if (keepsUnknown) return [];
  throw new AppError("unsupported-media-type", `the body's Content-Encoding is not one of ${KNOWN}`);
}

/** Only keeps what is within the bounds. */
function collect(message: IncomingMessage, { maxBytes, count }: BytesOptions): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const settle = (error?: unknown) => {
      message.off("data", onData).off("end", onEnd).off("error", onBroken).off("close", onBroken);
      if (error === undefined) resolve(Buffer.concat(chunks, length));
      else reject(error);
    };
    const onData = (chunk: Buffer) => {
      length += chunk.length;
      if (length > maxBytes) return settle(tooLarge(maxBytes));
      try {
        count?.(chunk.length);
        chunks.push(chunk);
      } catch (error) {
        settle(error);
      }
    };
    const onEnd = () => settle();
    const onBroken = () => settle(invalid("could not be read"));
    if (Number(message.headers["content-length"] ?? 0) > maxBytes) return settle(tooLarge(maxBytes));
    // The client has left by then: nothing of what follows would ever happen.
    if (message.destroyed) return onBroken();
    message.on("data", onData).on("end", onEnd).on("error", onBroken).on("close", onBroken);
  });
}

async function unpacked(body: Buffer, unpack: Unpack, maxBytes: number): Promise<Buffer> {
  let whole: Unpacked;
  try {
    whole = await unpack(body, { info: true, maxOutputLength: maxBytes });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") throw tooLarge(maxBytes, error);
    throw invalid("could not be decompressed", error);
  }
  // Node rejects what follows gzip, and ignores what follows the others and zeros.
  if (whole.engine.bytesWritten !== body.length)
    throw invalid("goes on after the end of its compressed data");
  return whole.buffer;
}

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

/** Returns the charset that a `Content-Type` names, in lower case; undefined without one, or if the header is not a media type. */
export function charsetOf(type: string): string | undefined {
  try {
    return new MIMEType(type).params.get("charset")?.toLowerCase() || undefined;
  } catch {
    return undefined;
  }
}

/** Returns the decoder of a charset; undefined for UTF-8, and for one that is not known. */
export function decoderOf(charset: string | undefined): TextDecoder | undefined {
  if (charset === undefined) return undefined;
  try {
    const decoder = new TextDecoder(charset, { ignoreBOM: true });
    return decoder.encoding === "utf-8" ? undefined : decoder;
  } catch {
    return undefined;
  }
}

/** What differs from ISO-8859-1, from 0x80 on; Node's own decoder leaves it out. */
const WINDOWS_1252 =
  "\u20ac\x81\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\x8d\u017d\x8f\x90\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\x9d\u017e\u0178";

/** Returns the text of bytes in the decoder's charset, the same on every version of Node. */
export function decodeWith(decoder: TextDecoder, bytes: Buffer): string {
  if (decoder.encoding !== "windows-1252") return decoder.decode(bytes);
  return bytes
    .toString("latin1")
    .replaceAll(/[\x80-\x9f]/g, char => WINDOWS_1252.charAt(char.charCodeAt(0) - 0x80));
}

export interface Decoded {
  text: string;
  /** True if the text as UTF-8 is what was decoded. */
  isExact: boolean;
}

/** Decodes bytes by the charset that their type names; as UTF-8 if it names none, or an unknown one. */
export function decode(bytes: Buffer, type: string): Decoded {
  const decoder = decoderOf(charsetOf(type));
  if (!decoder || isUtf8InSpite(bytes, type, decoder)) {
    return { text: bytes.toString("utf8"), isExact: isUtf8(bytes) };
  }
  const text = decodeWith(decoder, bytes);
  return { text, isExact: Buffer.from(text).equals(bytes) };
}

/**
 * JSON is UTF-8 whatever its type says (RFC 8259), and many servers name their default of ISO-8859-1. Text of that charset with
 * other than ASCII characters is hardly ever UTF-8 by accident.
 */
const isUtf8InSpite = (bytes: Buffer, type: string, { encoding }: TextDecoder): boolean =>
  encoding === "windows-1252" && /json/i.test(type) && isUtf8(bytes);

/** Returns a text without the byte order mark at its start. */
export const withoutMark = (text: string): string => (text.startsWith("\ufeff") ? text.slice(1) : text);
