import { type FieldError, invalidField } from "../lib/errors.ts";

/**
 * Reads a URL that a user gave for us to call: `http` or `https` with a host name, no credentials
 * (rest-api.md, section 4.6). Throws AppError `invalid`, naming `field` (the query's `url` by default). It says
 * nothing about the address: that is checked at each connection.
 */
export function checkUrl(
  url: string,
  field: Pick<FieldError, "in" | "path"> = { in: "query", path: "url" },
): URL {
  const refuse = (message: string) => invalidField(field.in, field.path, message);
  // `new URL` forgives `http:host`; the contract asks for protocol and host in the open.
  if (!/^https?:\/\//i.test(url)) throw refuse("must start with http:// or https://");
  const parsed = parse(url);
  // It also takes `x` of `http:///x` for the host.
  if (!parsed?.hostname || /^https?:\/\/[/\\]/i.test(url)) throw refuse("is not a URL with a host name");
  if (parsed.username || parsed.password) throw refuse("must not carry a user name or password");
  if (parsed.port === "0") throw refuse("must not have port 0");
  return parsed;
}

function parse(url: string): URL | undefined {
  try {
    return new URL(url);
  } catch {
    return undefined;
  }
}
