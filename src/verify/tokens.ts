import { createPublicKey, type KeyObject, verify } from "node:crypto";
import { isLoopback } from "../lib/hosts.ts";
import { findKey, hmacOf, isSameBytes, isSecret, type Proof } from "./comparisons.ts";
import type { Key } from "./keys.ts";
import type { VerifyRule } from "./schema.ts";

/** A JSON Web Token, whose signature was not checked yet. */
interface Token {
  head: Record<string, unknown>;
  /** What is signed. */
  content: string;
  signature: Buffer;
  claims: Record<string, unknown>;
}

/**
 * True for the schemes of tokens. They are two: with published keys, the secrets of a source are not secret, and a release that knows HS256
 * alone must not take them for its keys.
 */
export const isOfToken = ({ scheme }: Pick<VerifyRule, "scheme">): boolean =>
  scheme === "jwt" || scheme === "jwks";

/** Returns the parts of a token; null for a text of another form. */
export function readToken(text: string): Token | null {
  const [head = "", claims = "", signature = "", ...others] = text.split(".", 4);
  const bytes = Buffer.from(signature, "base64url");
  if (others.length > 0 || bytes.toString("base64url") !== signature) return null;
  return {
    head: parsePart(head),
    content: `${head}.${claims}`,
    signature: bytes,
    claims: parsePart(claims),
  };
}

function parsePart(base64url: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(Buffer.from(base64url, "base64url").toString()));
  } catch {
    return {};
  }
}

/**
 * Checks a token by HS256, or by the published key that it names, whatever else its head says. With published keys, which many
 * senders share, one claim must be one of the secrets.
 */
export function proveToken(
  { jwks }: Pick<VerifyRule, "jwks">,
  keys: readonly Key[],
  token: Token,
  published: KeyObject | null,
): Proof {
  if (!jwks) {
    const proof = findKey(
      keys,
      key => "secret" in key && isSameBytes(token.signature, hmacOf(key.secret, [token.content], "sha256")),
    );
    return "key" in proof && token.head.alg !== "HS256" ? { reason: "malformed" } : proof;
  }
  if (keyNameOf(token) === null) return { reason: "malformed" };
  if (!published) return { reason: "no-key" };
  if (!isSignedWith(token, published)) return { reason: "mismatch" };
  return findKey(keys, key => valuesOf(token.claims[jwks.secret_claim]).some(one => isSecret(one, key)));
}

/** A claim may have several values, as that of the audience does. */
const valuesOf = (claim: unknown): Buffer[] =>
  [claim].flat().flatMap(one => (typeof one === "string" ? [Buffer.from(one)] : []));

/** Returns whether a claim has this value; one of several is enough. */
export const hasValue = (claim: unknown, wanted: string): boolean =>
  [claim].flat().some(one => one === wanted || (typeof one === "boolean" && String(one) === wanted));

/** Algorithms of published keys. None with a shared secret is among them: a public key would be that secret. */
const ALGORITHMS = {
  RS256: {
    hash: "sha256",
    isOf: ({ asymmetricKeyType, asymmetricKeyDetails: { modulusLength = 0 } = {} }: KeyObject) =>
      asymmetricKeyType === "rsa" && modulusLength >= 2048 && modulusLength <= 4096,
  },
  ES256: {
    hash: "sha256",
    isOf: ({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject) =>
      asymmetricKeyType === "ec" && asymmetricKeyDetails?.namedCurve === "prime256v1",
  },
  EdDSA: { hash: null, isOf: ({ asymmetricKeyType }: KeyObject) => asymmetricKeyType === "ed25519" },
} as const;
type Algorithm = keyof typeof ALGORITHMS;

function isSignedWith({ head, content, signature }: Token, key: KeyObject): boolean {
  const { hash, isOf } = ALGORITHMS[head.alg as Algorithm];
  return isOf(key) && verify(hash, Buffer.from(content), { key, dsaEncoding: "ieee-p1363" }, signature);
}

/** Returns the name, in a set of keys, of the one that a token says it is signed with; null if it can't be of one. */
export function keyNameOf({ head: { alg, kid = "" } }: Token): string | null {
  const isOne = typeof alg === "string" && Object.hasOwn(ALGORITHMS, alg) && typeof kid === "string";
  return isOne ? `${alg} ${kid}` : null;
}

/** More than any sender publishes. */
const MAX_KEYS = 100;

/**
 * Returns the keys of a JSON Web Key Set by the names that tokens have for them; the only one of an algorithm is also that of tokens
 * without `kid`. Keys that are not for signatures, or too weak, are left out. Throws for another text.
 */
export function readKeySet(text: string): Map<string, KeyObject> {
  const { keys } = JSON.parse(text) as { keys: unknown };
  if (!Array.isArray(keys)) throw new TypeError("it has no keys");
  const read = keys.slice(0, MAX_KEYS).flatMap(readJwk);
  const named = new Map<string, KeyObject>();
  for (const algorithm of Object.keys(ALGORITHMS)) {
    const [only, ...others] = read.filter(one => one.algorithm === algorithm);
    if (only && others.length === 0) named.set(`${algorithm} `, only.key);
  }
  for (const { algorithm, kid, key } of read) named.set(`${algorithm} ${kid}`, key);
  return named;
}

function readJwk(given: unknown): { algorithm: Algorithm; kid: string; key: KeyObject }[] {
  const { kid = "", use = "sig", alg, kty } = Object(given);
  if (typeof kid !== "string" || use !== "sig" || kty === "oct") return [];
  try {
    const key = createPublicKey({ key: given as Record<string, string>, format: "jwk" });
    const algorithms = Object.keys(ALGORITHMS) as Algorithm[];
    const algorithm = algorithms.find(one => ALGORITHMS[one].isOf(key));
    return algorithm && (alg === undefined || alg === algorithm) ? [{ algorithm, kid, key }] : [];
  } catch {
    return [];
  }
}

/** True for an address from which public keys may come: what is sent in clear could be anybody's. */
export function isKeySetUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password } = new URL(text);
  const isSafe = protocol === "https:" || (protocol === "http:" && isLoopback(hostname));
  return isSafe && username === "" && password === "";
}
