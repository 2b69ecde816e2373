import { LRUCache } from "lru-cache";
import { type TemplatePart, templateParts, valueAt } from "../lib/template-parts.ts";
import { LIMITS } from "../limits/catalogue.ts";

/** A request as it arrived. */
export interface SignedRequest {
  method: string;
  /** As senders know it, with path and query as they were received: never made of what a request says of its host. */
  url: string;
  /** Values by name in lower case: a name that was sent twice has two. */
  headers: NodeJS.Dict<string[]>;
  body: Buffer;
}

/** Said of a name that was sent more than once: which of its values the sender meant is unknown. */
export const DOUBLED = Symbol("doubled");
type Value = string | undefined | typeof DOUBLED;

/** What templates of verifications may begin with; `faults.ts` says where which may. */
export const ROOTS = [
  ...["headers", "query", "body", "url", "method", "form", "timestamp", "id"],
  ...["signature", "claims", "hmac"],
] as const;
export type Root = (typeof ROOTS)[number];

const MAX_REMEMBERED = 2000;
const MAX_UNVERIFIED_BYTES = LIMITS.verifyReadBytes.value;
const MAX_FORM_FIELDS = 1000;
const FORM = "application/x-www-form-urlencoded";

const remembered = new LRUCache<string, TemplatePart[]>({ max: MAX_REMEMBERED });

/** As `templateParts`, which each request would need for the same few texts. */
export function partsOf(text: string): TemplatePart[] {
  const known = remembered.get(text);
  if (known) return known;
  const parts = templateParts(text, ROOTS);
  remembered.set(text, parts);
  return parts;
}

/** The values of a request that a rule names. Each part of it is parsed only when a rule asks for it. */
export class RequestValues {
  readonly request: SignedRequest;
  /** What items of a signature hold beside signatures, by key: its time. */
  readonly items = new Map<string, string | typeof DOUBLED>();
  /** Of a token. */
  claims: unknown;
  /** Bytes of a body that may be parsed. */
  #mayParse = MAX_UNVERIFIED_BYTES;
  #json: { value: unknown } | undefined;
  #query: URLSearchParams | undefined;

  constructor(request: SignedRequest) {
    this.request = request;
  }

  /** Notes that what was said of the sender allows to parse a body of any size. */
  mayParseAll(): void {
    this.#mayParse = Number.POSITIVE_INFINITY;
  }

  /** Returns the value of the first of these places that the request has. */
  first(places: readonly string[]): Value {
    for (const place of places) {
      const [template] = partsOf(place);
      const value = typeof template === "object" && template.path ? this.read(template.path) : undefined;
      if (value !== undefined) return value;
    }
    return undefined;
  }

  /** Returns a value as a text; undefined if it is absent, a list or an object. */
  read([root, ...path]: readonly string[]): Value {
    switch (root as Root) {
      case "headers":
        return single(this.request.headers[path[0] ?? ""]);
      case "query":
        return single(this.#searchParams().getAll(path[0] ?? ""));
      case "body":
        return asText(valueAt(this.#parsed(), path));
      case "claims":
        return asText(valueAt(this.claims, path));
      case "signature":
        return this.items.get(path[0] ?? "");
      default:
        return undefined;
    }
  }

  /** True for a body whose fields are signed in place of it. */
  get isForm(): boolean {
    return (this.request.headers["content-type"]?.[0] ?? "").toLowerCase().startsWith(FORM);
  }

  /**
   * Returns the names and values of a form, sorted by name, as Twilio signs them: each distinct value of a name once. Empty for
   * another body, undefined for a form that is too large to be one.
   */
  sortedForm(): string | undefined {
    const { body } = this.request;
    if (!this.isForm || body.length === 0) return "";
    if (body.length > MAX_UNVERIFIED_BYTES) return undefined;
    const text = body.toString();
    if (text.split("&", MAX_FORM_FIELDS + 1).length > MAX_FORM_FIELDS) return undefined;
    const fields = new URLSearchParams(text);
    return [...new Set(fields.keys())]
      .sort()
      .flatMap(name => [...new Set(fields.getAll(name))].sort().map(value => name + value))
      .join("");
  }

  #searchParams(): URLSearchParams {
    const { url } = this.request;
    const at = url.indexOf("?");
    this.#query ??= new URLSearchParams(at < 0 ? "" : url.slice(at + 1));
    return this.#query;
  }

  #parsed(): unknown {
    const { body } = this.request;
    if (body.length > this.#mayParse) return undefined;
    this.#json ??= { value: parseJson(body) };
    return this.#json.value;
  }
}

const single = (values: readonly string[] = []): Value => (values.length > 1 ? DOUBLED : values[0]);

function asText(value: unknown): string | undefined {
  const isScalar = typeof value === "string" || typeof value === "number" || typeof value === "boolean";
  return isScalar ? String(value) : undefined;
}

/** Returns what a text has in JSON; undefined for another text. */
export function parseJson(body: Buffer | string): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}
