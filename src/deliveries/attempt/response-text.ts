import { isUtf8 } from "node:buffer";
import { brotliDecompressSync, constants, inflateSync, unzipSync } from "node:zlib";
import { MAX_RESPONSE_BYTES } from "../../destinations/outcome.ts";
import type { EgressResponse } from "../../egress/agent.ts";

const MOST_DECOMPRESSED = 64 * 1024;
/** The beginning of a compressed body is decompressed as far as it goes. */
const PARTIAL = { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: MOST_DECOMPRESSED };
const PARTIAL_BROTLI = {
  finishFlush: constants.BROTLI_OPERATION_FLUSH,
  maxOutputLength: MOST_DECOMPRESSED,
};
const DECODERS: Record<string, (body: Buffer) => Buffer> = {
  gzip: body => unzipSync(body, PARTIAL),
  "x-gzip": body => unzipSync(body, PARTIAL),
  deflate: body => inflateSync(body, PARTIAL),
  br: body => brotliDecompressSync(body, PARTIAL_BROTLI),
};

/** At the end of a text that goes on. */
const CUT = "…";
/** A character of UTF-8 has up to three bytes before its last one. */
const PART_OF_CHARACTER = 3;

/**
 * Returns the beginning of a response as a person can read it: decompressed, and with `…` at its end if there was more. A body
 * that is not text is described in brackets, as is one that can't be decompressed.
 */
export function responseText({ headers, body, truncated }: EgressResponse): string {
  if (body.length === 0) return "";
  const encoding = (headers["content-encoding"] ?? "identity").trim().toLowerCase();
  const type = (headers["content-type"] ?? "").split(";")[0]?.trim() ?? "";
  const described = `[${[encoding === "identity" ? "" : encoding, type || "binary"].filter(Boolean).join(" ")}, ${
    truncated ? "more than " : ""
  }${body.length} bytes]`;
  let text = body;
  if (encoding !== "identity") {
    const decode = DECODERS[encoding];
    if (!decode) return described;
    try {
      text = decode(body);
    } catch {
      return described;
    }
  }
  const whole = wholeCharacters(text, truncated);
  if (whole === undefined) return described;
  const isCut = truncated || whole.length > MAX_RESPONSE_BYTES;
  return isCut ? whole.slice(0, MAX_RESPONSE_BYTES - CUT.length) + CUT : whole;
}

/** Returns the text without a character that was cut; undefined if it is not UTF-8. */
function wholeCharacters(bytes: Buffer, isCut: boolean): string | undefined {
  for (let cut = 0; cut <= (isCut ? PART_OF_CHARACTER : 0); cut++) {
    const whole = bytes.subarray(0, bytes.length - cut);
    if (isUtf8(whole) && !whole.includes(0)) return whole.toString("utf8");
  }
  return undefined;
}
