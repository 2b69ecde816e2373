import { isUtf8 } from "node:buffer";
import { MIMEType, TextDecoder } from "node:util";

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
