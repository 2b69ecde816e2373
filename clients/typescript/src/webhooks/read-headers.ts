/** Headers as `fetch`, Node or anything with entries has them. */
export type HeadersLike =
  | Headers
  | Iterable<readonly [string, string]>
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** Returns the function that reads a header by its name, whatever its case; the empty text without one. */
export function readHeaders(headers: HeadersLike): (name: string) => string {
  if ("get" in headers && typeof headers.get === "function") {
    const get = headers.get.bind(headers) as Headers["get"];
    return name => get(name) ?? "";
  }
  const entries = Symbol.iterator in headers ? [...headers] : Object.entries(headers);
  const values = new Map(
    entries.map(([name, value]) => [
      name.toLowerCase(),
      typeof value === "string" ? value : (value ?? []).join(","),
    ]),
  );
  return name => values.get(name) ?? "";
}
