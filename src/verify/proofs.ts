import { createHash, type KeyObject, verify } from "node:crypto";
import { findKey, hmacOf, isSameBytes, isSecret, type Piece, type Proof } from "./comparisons.ts";
import { decodeStrictly, type Key } from "./keys.ts";
import type { RejectReason } from "./reasons.ts";
import { DOUBLED, partsOf, type RequestValues } from "./request-values.ts";
import type { VerifyRule } from "./schema.ts";
import { readSignatures } from "./signatures.ts";
import { proveMessage } from "./sns.ts";
import { isOfToken, proveToken, readToken } from "./tokens.ts";

/**
 * Compares what a request proves with each key; nothing of it is trusted before. `published` is the public key that it names, null if
 * there is none.
 */
export function prove(
  rule: VerifyRule,
  keys: readonly Key[],
  values: RequestValues,
  published: KeyObject | null,
): Proof {
  if (rule.scheme === "sns") return proveMessage(rule, keys, values, published);
  const signatures = readSignatures(rule, values);
  if ("reason" in signatures) return signatures;
  const { encoding } = rule.signature;
  const given = signatures.given.map(text => decodeStrictly(text, encoding)).filter(bytes => bytes !== null);
  if (given.length === 0) return { reason: "malformed" };
  if (rule.scheme === "token") return findKey(keys, key => given.some(one => isSecret(one, key)));
  if (isOfToken(rule)) {
    const token = given.length === 1 ? readToken(String(given[0])) : null;
    if (!token) return { reason: "malformed" };
    const proof = proveToken(rule, keys, token, published);
    if ("reason" in proof) return proof;
    values.claims = token.claims;
    return withBodyHash(rule, values, proof);
  }
  return proveContent(rule, keys, given, values);
}

function proveContent(rule: VerifyRule, keys: readonly Key[], given: Buffer[], values: RequestValues): Proof {
  for (const url of urlsOf(rule, values)) {
    const content = contentOf(rule, values, url);
    if ("reason" in content) return content;
    const key = keys.find(one => given.some(signature => isSigned(rule, one, content.pieces, signature)));
    if (key) return withBodyHash(rule, values, { key });
  }
  return { reason: "mismatch" };
}

function withBodyHash(rule: VerifyRule, values: RequestValues, proof: Proof): Proof {
  const fault = bodyHashFault(rule, values);
  return fault ? { reason: fault } : proof;
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

/** Returns the addresses that a sender may have signed: one was perhaps registered with a slash at the end of its path, or without. */
function urlsOf({ signs = [] }: VerifyRule, { request: { url } }: RequestValues): string[] {
  return signs.some(part => part.includes("{{url}}")) ? addressesOf(url) : [url];
}

/** Returns an address, and the same with a slash at the end of its path, or without. */
export function addressesOf(url: string): string[] {
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
