import { type FieldError, invalidField } from "../lib/errors.ts";

type Field = Pick<FieldError, "in" | "path">;

/**
 * Checks the characters of a URL that a caller gives to be stored. What reads URLs removes or encodes control characters and the
 * blanks around one, so that what is shown would not be what is called. Throws `invalid` that names `field`.
 */
export function checkUrlText(url: string, field: Field): void {
  if (/\p{Cc}/u.test(url)) {
    throw invalidField(
      field.in,
      field.path,
      "must not contain a line break, a tab or another control character",
    );
  }
  if (url.trim() !== url) throw invalidField(field.in, field.path, "must not begin or end with a blank");
}

/**
 * Parses a URL that a caller gives for Headwater to call: `readUrl`, without control characters and blanks around it. Throws
 * `invalid` that names `field`.
 */
export function checkUrl(url: string, field: Field): URL {
  checkUrlText(url, field);
  return readUrl(url, field);
}

/**
 * Parses a URL that Headwater is to call: `http` or `https`, with a host name and without credentials
 * (docs/rest-api.md#webhooks). Throws AppError `invalid` that names `field`. The address behind the host name is checked at
 * each connection, not here; the characters of a stored URL neither, which earlier releases did not check.
 */
export function readUrl(url: string, field: Field): URL {
  const invalid = (message: string) => invalidField(field.in, field.path, message);
  // `new URL` accepts `http:host` as `http://host`.
  if (!/^https?:\/\//i.test(url)) throw invalid("must start with http:// or https://");
  const parsed = parse(url);
  // `new URL` also reads `x` as the host of `http:///x`.
  if (!parsed?.hostname || /^https?:\/\/[/\\]/i.test(url)) throw invalid("is not a URL with a host name");
  if (parsed.username || parsed.password) throw invalid("must not contain a user name or password");
  if (parsed.port === "0") throw invalid("must not have port 0");
  return parsed;
}

function parse(url: string): URL | undefined {
  try {
    return new URL(url);
  } catch {
    return undefined;
  }
}
