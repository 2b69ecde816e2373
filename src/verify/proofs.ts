import { createHash, createHmac, timingSafeEqual, verify } from "node:crypto";
import { isSameSecret } from "../lib/ids.ts";
import { decodeStrictly, type Key } from "./keys.ts";
import type { RejectReason } from "./reasons.ts";
import { DOUBLED, partsOf, type RequestValues } from "./request-values.ts";
import type { VerifyRule } from "./schema.ts";
import { readSignatures } from "./signatures.ts";

/** Which key signed a request, or why none did. */
export type Proof = { key: Key } | { reason: RejectReason };

const MISMATCH = { reason: "mismatch" } as const;

/** Compares what a request proves with each key; nothing of it is trusted before. */
export function prove(rule: VerifyRule, keys: readonly Key[], values: RequestValues): Proof {
  const signatures = readSignatures(rule, values);
  if ("reason" in signatures) return signatures;
  const { encoding } = rule.signature;
  const given = signatures.given.map(text => decodeStrictly(text, encoding)).filter(bytes => bytes !== null);
  if (given.length === 0) return { reason: "malformed" };
  if (rule.scheme === "token") return findKey(keys, key => given.some(one => isSecret(one, key)));
  if (rule.scheme === "jwt") return proveToken(rule, keys, given, values);
  return proveContent(rule, keys, given, values);
}

const findKey = (keys: readonly Key[], fits: (key: Key) => boolean): Proof => {
  const key = keys.find(fits);
  return key ? { key } : MISMATCH;
};

const isSecret = (given: Buffer, key: Key): boolean =>
  "secret" in key && isSameSecret(given.toString("latin1"), key.secret.toString("latin1"));

const isSameBytes = (given: Buffer, expected: Buffer): boolean =>
  given.length === expected.length && timingSafeEqual(given, expected);

function proveContent(rule: VerifyRule, keys: readonly Key[], given: Buffer[], values: RequestValues): Proof {
  for (const url of urlsOf(rule, values)) {
    const content = contentOf(rule, values, url);
    if ("reason" in content) return content;
    const key = keys.find(one => given.some(signature => isSigned(rule, one, content.pieces, signature)));
    if (!key) continue;
    const fault = bodyHashFault(rule, values);
    return fault ? { reason: fault } : { key };
  }
  return MISMATCH;
}

function isSigned(
  { digest = "sha256", algorithm }: VerifyRule,
  key: Key,
  pieces: Piece[],
  signature: Buffer,
): boolean {
  if ("publicKey" in key) {
    const content = Buffer.concat(
      pieces.map(piece => (typeof piece === "string" ? Buffer.from(piece) : piece)),
    );
    return verify(algorithm === "ed25519" ? null : "sha256", content, key.publicKey, signature);
  }
  return isSameBytes(signature, hmacOf(key.secret, pieces, digest));
}

export type Piece = string | Buffer;

/** Returns the HMAC of these pieces one after the other, none of which is copied. */
export function hmacOf(key: Buffer, pieces: readonly Piece[], digest: string): Buffer {
  const hmac = createHmac(digest, key);
  for (const piece of pieces) hmac.update(piece);
  return hmac.digest();
}

/** Returns the addresses that a sender may have signed: one was perhaps registered with a slash at the end of its path, or without. */
function urlsOf({ signs = [] }: VerifyRule, { request: { url } }: RequestValues): string[] {
  if (!signs.some(part => part.includes("{{url}}"))) return [url];
  const at = url.includes("?") ? url.indexOf("?") : url.length;
  const [path, query] = [url.slice(0, at), url.slice(at)];
  return [url, (path.endsWith("/") ? path.slice(0, -1) : `${path}/`) + query];
}

/** Returns what the sender signed, if the request has all of it. */
export function contentOf(
  rule: VerifyRule,
  values: RequestValues,
  url: string,
): { pieces: Piece[] } | { reason: RejectReason } {
  const { signs = [] } = rule;
  const pieces: Piece[] = [];
  for (const text of signs) {
    const found = partsOf(text).map(part =>
      typeof part === "string" ? part : signedValue(rule, values, part.path ?? [], url),
    );
    if (found.includes(DOUBLED)) return { reason: "doubled" };
    if (!found.includes(undefined)) pieces.push(...(found as Piece[]));
    else if (signs.length === 1 || text.includes("{{body}}")) return { reason: "missing" };
  }
  return { pieces };
}

function signedValue(rule: VerifyRule, values: RequestValues, path: readonly string[], url: string) {
  const { request } = values;
  switch (path[0]) {
    case "body":
      return path.length === 1 ? request.body : values.read(path);
    case "url":
      return url;
    case "method":
      return request.method;
    case "form":
      return values.sortedForm();
    case "timestamp":
      return values.first(rule.timestamp?.at ?? []);
    case "id":
      return values.first(rule.id ?? []);
    default:
      return values.read(path);
  }
}

/** Checks a body that is signed by its hash; one whose fields are signed themselves, or an empty one, needs none. */
function bodyHashFault(rule: VerifyRule, values: RequestValues): RejectReason | null {
  if (!rule.body_hash) return null;
  const given = values.first(rule.body_hash.at);
  if (given === DOUBLED) return "doubled";
  const { body } = values.request;
  const isSignedItself = rule.scheme === "hmac" && (body.length === 0 || values.isForm);
  if (given === undefined) return isSignedItself ? null : "missing";
  const hash = decodeStrictly(given, rule.body_hash.encoding);
  return hash && isSameBytes(hash, createHash("sha256").update(body).digest()) ? null : "body-hash";
}

/** Checks a JSON Web Token: HS256 whatever its head says, which must say the same. */
function proveToken(rule: VerifyRule, keys: readonly Key[], given: Buffer[], values: RequestValues): Proof {
  const [head = "", claims = "", signature = "", ...others] = String(given[0]).split(".");
  const bytes = Buffer.from(signature, "base64url");
  const isToken = given.length === 1 && others.length === 0 && bytes.toString("base64url") === signature;
  if (!isToken) return { reason: "malformed" };
  const proof = findKey(
    keys,
    key => "secret" in key && isSameBytes(bytes, hmacOf(key.secret, [`${head}.${claims}`], "sha256")),
  );
  if ("reason" in proof) return proof;
  if (parsePart(head).alg !== "HS256") return { reason: "malformed" };
  values.claims = parsePart(claims);
  const fault = bodyHashFault(rule, values);
  return fault ? { reason: fault } : proof;
}

function parsePart(base64url: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(Buffer.from(base64url, "base64url").toString()));
  } catch {
    return {};
  }
}
