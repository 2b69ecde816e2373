import { createHash, createPrivateKey, sign } from "node:crypto";
import { hmacOf, type Piece } from "./comparisons.ts";
import { readKey } from "./keys.ts";
import { contentOf } from "./proofs.ts";
import { partsOf, RequestValues } from "./request-values.ts";
import type { VerifyRule } from "./schema.ts";

/** A request that is to be signed. */
export interface Unsigned {
  method: string;
  url: string;
  /** By name in lower case. */
  headers: Record<string, string>;
  body: Buffer;
  /** The id of what is reported, where the rule has one in a header. */
  id: string;
}

/** A key that can't sign by a rule, or a body that can't take what the rule puts there; `message` says which. */
export class CantSign extends Error {}

/**
 * Signs a request as the provider of a rule does, to try a source. `secret` is what the source is given; of a public key, the private
 * key as PEM. Throws CantSign.
 */
export function signRequest(rule: VerifyRule, secret: string, request: Unsigned, nowMs: number): Unsigned {
  if (rule.scheme === "sns" || rule.scheme === "jwks") {
    throw new CantSign(
      "this preset verifies by keys that the provider alone has, and can't be tried like this",
    );
  }
  const draft = new Draft(request);
  const [idPlace = ""] = rule.id ?? [];
  // The id of what is reported is in its body already, unless the signature is about it.
  const isAdded = pathOf(idPlace)[0] === "headers" || rule.signs?.some(text => text.includes(idPlace));
  if (idPlace !== "" && isAdded) draft.put(idPlace, request.id);
  const [timePlace] = rule.timestamp?.at ?? [];
  if (timePlace !== undefined) draft.put(timePlace, TIME[rule.timestamp?.unit ?? "s"](nowMs));
  const [hashPlace = ""] = rule.body_hash?.at ?? [];
  if (rule.body_hash && rule.scheme !== "jwt") draft.put(hashPlace, bodyHash(rule, draft.body));
  const { separator = "=", items, key, prefix = "", at } = rule.signature;
  const signature = prefix + signatureOf(rule, secret, draft, nowMs);
  const others = [...draft.items].map(([name, value]) => `${name}${separator}${value}`);
  const own = key === undefined ? signature : `${key}${separator}${signature}`;
  draft.put(at[0] ?? "", [...others, own].join(items));
  return draft.request();
}

const TIME: Record<"s" | "ms" | "iso", (ms: number) => string> = {
  s: ms => String(Math.floor(ms / 1000)),
  ms: ms => String(ms),
  iso: ms => new Date(ms).toISOString(),
};

function pathOf(place: string): readonly string[] {
  const [template] = partsOf(place);
  return typeof template === "object" ? (template.path ?? []) : [];
}
const lastOf = (place: string): string => pathOf(place).at(-1) ?? "";

const bodyHash = ({ body_hash }: VerifyRule, body: Buffer): string =>
  createHash("sha256")
    .update(body)
    .digest(body_hash?.encoding ?? "hex");

function signatureOf(rule: VerifyRule, secret: string, draft: Draft, nowMs: number): string {
  const { scheme, digest = "sha256", algorithm, signature } = rule;
  const encoding = signature.encoding === "text" ? "utf8" : signature.encoding;
  if (scheme === "token") return Buffer.from(secret).toString(encoding);
  const values = new RequestValues(draft.signed());
  for (const [name, value] of draft.items) values.items.set(name, value);
  if (scheme === "signature") {
    const content = Buffer.concat(piecesOf(rule, values).map(piece => Buffer.from(piece as string)));
    return sign(algorithm === "ed25519" ? null : "sha256", content, privateKeyOf(secret)).toString(encoding);
  }
  const key = readKey(rule, secret);
  if (!key || !("secret" in key)) throw new CantSign("the secret is not a key of this preset");
  if (scheme === "jwt") return tokenOf(rule, key.secret, draft.body, nowMs);
  return hmacOf(key.secret, piecesOf(rule, values), digest).toString(encoding);
}

function piecesOf(rule: VerifyRule, values: RequestValues): Piece[] {
  const content = contentOf(rule, values, values.request.url);
  if ("reason" in content) throw new CantSign("the request lacks a value that is signed");
  return content.pieces;
}

function privateKeyOf(pem: string) {
  try {
    return createPrivateKey(pem);
  } catch {
    throw new CantSign("this preset signs with a private key: give it as PEM");
  }
}

function tokenOf(rule: VerifyRule, key: Buffer, body: Buffer, nowMs: number): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const iat = Math.floor(nowMs / 1000);
  const hash = rule.body_hash ? { [lastOf(rule.body_hash.at[0] ?? "")]: bodyHash(rule, body) } : {};
  const text = `${part({ alg: "HS256", typ: "JWT" })}.${part({ ...rule.claims, ...hash, iat, exp: iat + 60 })}`;
  return `${text}.${hmacOf(key, [text], "sha256").toString("base64url")}`;
}

/** A request into which what its provider adds is put. */
class Draft {
  readonly #request: Unsigned;
  readonly #url: URL;
  readonly #headers: Record<string, string>;
  body: Buffer;
  /** What is beside the signature in its value, by name. */
  readonly items = new Map<string, string>();

  constructor(request: Unsigned) {
    this.#request = request;
    this.#url = new URL(request.url);
    this.#headers = { ...request.headers };
    this.body = request.body;
  }

  /** Puts a value where a rule looks for it. Throws CantSign for a body that is not a JSON object. */
  put(place: string, value: string): void {
    const [root, ...path] = pathOf(place);
    if (root === "headers") this.#headers[path[0] ?? ""] = value;
    else if (root === "signature") this.items.set(path[0] ?? "", value);
    else if (root === "query") this.#url.searchParams.set(path[0] ?? "", value);
    else this.#putInBody(path, value);
  }

  #putInBody(path: readonly string[], value: string): void {
    let inside: Record<string, unknown>;
    try {
      inside = JSON.parse(this.body.toString());
    } catch {
      throw new CantSign("this preset signs within the body, which must be a JSON object");
    }
    const whole = inside;
    for (const step of path.slice(0, -1)) {
      inside[step] ??= {};
      inside = inside[step] as Record<string, unknown>;
    }
    const last = path.at(-1) ?? "";
    inside[last] = /^\d{1,15}$/.test(value) ? Number(value) : value;
    this.body = Buffer.from(JSON.stringify(whole));
  }

  signed() {
    const headers = Object.fromEntries(Object.entries(this.#headers).map(([name, value]) => [name, [value]]));
    return { method: this.#request.method, url: this.#urlText(), headers, body: this.body };
  }

  request(): Unsigned {
    return { ...this.#request, url: this.#urlText(), headers: this.#headers, body: this.body };
  }

  /** As it was given, unless something was put into its query. */
  #urlText(): string {
    return this.#url.search === new URL(this.#request.url).search ? this.#request.url : this.#url.href;
  }
}
