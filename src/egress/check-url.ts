import { type FieldError, invalidField } from "../lib/errors.ts";

/**
 * Parses a URL that Headwater is asked to call: `http` or `https`, with a host name and without credentials
 * (docs/rest-api.md#webhooks). Throws AppError `invalid` that names `field`, by default the query parameter `url`.
 * The address behind the host name is checked at each connection, not here.
 */
export function checkUrl(
  url: string,
  field: Pick<FieldError, "in" | "path"> = { in: "query", path: "url" },
): URL {
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
