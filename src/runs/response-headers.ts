/** Headers as a component gives them to `respond`; a list is a header that is sent several times. */
export type GivenHeaders = Readonly<Record<string, string | readonly string[]>>;

/**
 * What a component may set: what describes its own body, its caching, its place, who may read it, and names of its own.
 * Everything else speaks for the whole host or for the connection, such as `www-authenticate`, `clear-site-data`,
 * `strict-transport-security`, `alt-svc`, `nel` or `content-security-policy`, and the host may serve the board too.
 */
const ALLOWED: readonly (string | RegExp)[] = [
  "accept-ranges",
  "age",
  "allow",
  "cache-control",
  "content-digest",
  "content-disposition",
  "content-encoding",
  "content-language",
  "content-location",
  "content-range",
  "content-type",
  "etag",
  "expires",
  "last-modified",
  "link",
  "location",
  "pragma",
  "retry-after",
  "vary",
  /^access-control-/,
  /^x-/,
  // Senders of webhooks verify an endpoint by such headers: WebHook-Allowed-Origin, Smartsheet-Hook-Response.
  /(^|-)(web)?hook-/,
];

/**
 * Names of our own, and names by which a proxy in front is told what to do: `x-accel-redirect` makes nginx send a file of
 * its machine.
 */
const RESERVED: readonly RegExp[] = [
  /^x-request-id$/,
  /^x-content-type-options$/,
  /^x-forwarded-/,
  /^x-accel-/,
  /^x-sendfile/,
  /^x-lighttpd-/,
  /^x-litespeed-/,
  /^x-reproxy-/,
];

const matches = (patterns: readonly (string | RegExp)[], name: string): boolean =>
  patterns.some(pattern => (typeof pattern === "string" ? pattern === name : pattern.test(name)));

/**
 * Splits the headers of a component's response into those that are sent and the names, in lower case, of those that are
 * dropped (docs/component-api.md#response-headers). `cookies` is true if endpoints have a host of their own
 * (`INGRESS_URL`): only there a component may set cookies.
 */
export function splitHeaders(
  headers: GivenHeaders,
  { cookies }: { cookies: boolean },
): { allowed: [name: string, value: string | readonly string[]][]; dropped: string[] } {
  const isAllowed = (name: string): boolean =>
    name === "set-cookie" ? cookies : matches(ALLOWED, name) && !matches(RESERVED, name);
  const entries = Object.entries(headers);
  return {
    allowed: entries.filter(([name]) => isAllowed(name.toLowerCase())),
    dropped: entries.map(([name]) => name.toLowerCase()).filter(name => !isAllowed(name)),
  };
}

/**
 * Returns a component's cookie as it may be sent: for its own endpoint only. All endpoints share one host, so a cookie for
 * the whole host, or for a domain above it, would be sent to the components of others.
 */
export function confineCookie(cookie: string, endpointPath: string): string {
  const [pair = "", ...attributes] = cookie.split(";").map(part => part.trim());
  const nameOf = (attribute: string) => attribute.split("=")[0]?.trim().toLowerCase();
  const path =
    attributes
      .find(attribute => nameOf(attribute) === "path")
      ?.split("=")[1]
      ?.trim() ?? "";
  const isWithin = path === endpointPath || path.startsWith(`${endpointPath}/`);
  const kept = attributes.filter(attribute => !["path", "domain", ""].includes(nameOf(attribute) ?? ""));
  return [pair, ...kept, `Path=${isWithin ? path : endpointPath}`].join("; ");
}
