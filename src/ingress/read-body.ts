import type { IncomingMessage } from "node:http";
import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate } from "node:zlib";
import getRawBody from "raw-body";
import { AppError } from "../lib/errors.ts";
import { MAX_BODY_BYTES } from "./response.ts";

type Decode = (body: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

const unzip: Decode = promisify(gunzip);
const DECODERS: Record<string, Decode> = {
  gzip: unzip,
  "x-gzip": unzip,
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
};

/** Each costs a decompression of up to `MAX_BODY_BYTES`. */
const MAX_ENCODINGS = 2;

const tooLarge = (cause: unknown) =>
  new AppError("too-large", `the body is larger than ${MAX_BODY_BYTES / 1024} KB`, { cause });

/** Is called with each part of a body as it arrives, in bytes; throws if that is too much beside other bodies. */
type Count = (bytes: number) => void;

/**
 * Reads the body of a request for a source and undoes its `Content-Encoding`; an encoding that is not known, such as
 * `utf-8`, is left to the component. Throws `too-large` for more than `MAX_BODY_BYTES`, before or after decompression,
 * `invalid` for a body that can't be decompressed or breaks off (docs/component-api.md#events-given-to-run), and what
 * `count` throws.
 */
export async function readBody(message: IncomingMessage, count: Count = () => undefined): Promise<Buffer> {
  const encodings = (message.headers["content-encoding"] ?? "").toLowerCase().split(",");
  if (encodings.length > MAX_ENCODINGS) {
    throw new AppError("invalid", `the body has more than ${MAX_ENCODINGS} content encodings`);
  }
  let body = await readRaw(message, count);
  for (const encoding of encodings.reverse()) {
    const decode = DECODERS[encoding.trim()];
    if (!decode || body.length === 0) continue;
    body = await decoded(body, decode);
    count(body.length);
  }
  return body;
}

async function readRaw(message: IncomingMessage, count: Count): Promise<Buffer> {
  const length = message.headers["content-length"];
  const onData = (chunk: Buffer) => {
    try {
      count(chunk.length);
    } catch (error) {
      // What ends the reading: the rest is not kept.
      message.off("data", onData);
      message.emit("error", error);
    }
  };
  try {
    const reading = getRawBody(message, { length, limit: MAX_BODY_BYTES });
    message.prependListener("data", onData);
    return await reading;
  } catch (error) {
    message.off("data", onData);
    // What is still to come passes by, so that the connection can be used for another request.
    message.resume();
    if (error instanceof AppError) throw error;
    if ((error as { type?: string }).type === "entity.too.large") throw tooLarge(error);
    throw new AppError("invalid", "the body could not be read", { cause: error });
  }
}

async function decoded(body: Buffer, decode: Decode): Promise<Buffer> {
  try {
    return await decode(body, { maxOutputLength: MAX_BODY_BYTES });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") throw tooLarge(error);
    throw new AppError("invalid", "the body could not be decompressed", { cause: error });
  }
}
