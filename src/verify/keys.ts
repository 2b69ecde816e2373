import { createPublicKey, type KeyObject } from "node:crypto";
import type { VerifyRule } from "./schema.ts";

type Encoding = NonNullable<VerifyRule["key"]>["encoding"];

/** A secret in the form in which its scheme uses it. */
export type Key = { secret: Buffer } | { publicKey: KeyObject };

/** Returns the bytes of a text, or null if it is not exactly such a text: decoders of Node pass over what they don't know. */
export function decodeStrictly(text: string, encoding: "hex" | "base64" | "text"): Buffer | null {
  if (encoding === "text") return Buffer.from(text);
  const bytes = Buffer.from(text, encoding);
  const isWhole = bytes.toString(encoding) === (encoding === "hex" ? text.toLowerCase() : text);
  return isWhole && bytes.length > 0 ? bytes : null;
}

/** Encodings of the secrets of a scheme, its default first. */
const ENCODINGS: Record<VerifyRule["scheme"], readonly [Encoding, ...Encoding[]]> = {
  hmac: ["utf8", "base64", "hex"],
  jwt: ["utf8", "base64", "hex"],
  token: ["utf8"],
  jwks: ["utf8"],
  sns: ["utf8"],
  signature: ["pem", "spki-base64", "raw-hex", "raw-base64"],
};

export const encodingsOf = ({ scheme }: Pick<VerifyRule, "scheme">): readonly Encoding[] => ENCODINGS[scheme];

/** Of a topic of Amazon SNS, which its messages must be of: anybody may send those of a topic of their own. */
const TOPIC = /^arn:aws[a-z-]{0,20}:sns:[a-z0-9-]{1,30}:\d{12}:[\w.-]{1,260}$/;

/** Returns the key that a secret is; null if it is not one of the rule's encoding and algorithm. */
export function readKey(rule: Pick<VerifyRule, "scheme" | "key" | "algorithm">, secret: string): Key | null {
  const { encoding = ENCODINGS[rule.scheme][0], strip = "" } = rule.key ?? {};
  const text = strip !== "" && secret.startsWith(strip) ? secret.slice(strip.length) : secret;
  if (rule.scheme === "sns") return TOPIC.test(text) ? { secret: Buffer.from(text) } : null;
  if (rule.scheme !== "signature") {
    const bytes = decodeStrictly(text, encoding === "base64" || encoding === "hex" ? encoding : "text");
    return bytes && bytes.length > 0 ? { secret: bytes } : null;
  }
  try {
    const publicKey = readPublicKey(text, encoding);
    return publicKey && isOf(rule.algorithm, publicKey) ? { publicKey } : null;
  } catch {
    return null;
  }
}

/** Throws what OpenSSL says of a text that is not a public key. */
function readPublicKey(text: string, encoding: Encoding): KeyObject | null {
  // Of a private key, Node would make the public one; a private key belongs to its sender alone.
  if (encoding === "pem") return text.includes("PRIVATE KEY") ? null : createPublicKey(text);
  const bytes = decodeStrictly(text, encoding === "raw-hex" ? "hex" : "base64");
  if (!bytes) return null;
  if (encoding === "spki-base64") return createPublicKey({ key: bytes, format: "der", type: "spki" });
  return createPublicKey({
    key: { kty: "OKP", crv: "Ed25519", x: bytes.toString("base64url") },
    format: "jwk",
  });
}

function isOf(
  algorithm: VerifyRule["algorithm"],
  { type, asymmetricKeyType, asymmetricKeyDetails }: KeyObject,
): boolean {
  if (type !== "public") return false;
  return algorithm === "ed25519"
    ? asymmetricKeyType === "ed25519"
    : asymmetricKeyType === "ec" && asymmetricKeyDetails?.namedCurve === "prime256v1";
}
