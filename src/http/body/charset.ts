import { MIMEType } from "node:util";

/** Returns the charset that a `Content-Type` names, in lower case; undefined without one, or if the header is no media type. */
export function charsetOf(type: string): string | undefined {
  try {
    return new MIMEType(type).params.get("charset")?.toLowerCase() || undefined;
  } catch {
    return undefined;
  }
}

/** Returns a text without the byte order mark at its start. */
export const withoutMark = (text: string): string => (text.startsWith("\ufeff") ? text.slice(1) : text);
