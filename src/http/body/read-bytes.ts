import type { IncomingMessage } from "node:http";
import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate, type ZlibOptions } from "node:zlib";
import { AppError } from "../../lib/errors.ts";
import { KB } from "../../limits/limit.ts";

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
