import { createPrivateKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { LRUCache } from "lru-cache";

/** Begins the secret part of a key pair, as Standard Webhooks writes it: the base64 of the seed and the public key. */
const SECRET = "whsk_";
/** Begins the public part: the base64 of its 32 bytes. */
const PUBLIC = "whpk_";
const SEED_BYTES = 32;
/** What precedes the seed in a private key of PKCS #8 (RFC 8410). */
const PKCS8 = Buffer.from("302e020100300506032b657004220420", "hex");

export interface KeyPair {
  /** `whsk_…` */
  secret: string;
  /** `whpk_…` */
  public: string;
}

/** Returns a new key pair in the form of Standard Webhooks for asymmetric keys. */
export function newKeyPair(): KeyPair {
  const { d = "", x = "" } = generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" });
  const [seed, publicKey] = [d, x].map(part => Buffer.from(part, "base64url")) as [Buffer, Buffer];
  return {
    secret: SECRET + Buffer.concat([seed, publicKey]).toString("base64"),
    public: PUBLIC + publicKey.toString("base64"),
  };
}

/** Whether a key that signs is the secret part of such a pair, and not one for HMAC. */
export const isEd25519 = (key: string): boolean => key.startsWith(SECRET);

/** Parsing a key takes longer than a signature. */
const parsed = new LRUCache<string, KeyObject>({ max: 1000 });

/** Returns the base64 of the signature of a text by a `whsk_…`. */
export function signEd25519(key: string, text: string): string {
  const known = parsed.get(key) ?? parse(key);
  parsed.set(key, known);
  return sign(null, Buffer.from(text), known).toString("base64");
}

function parse(key: string): KeyObject {
  const seed = Buffer.from(key.slice(SECRET.length), "base64").subarray(0, SEED_BYTES);
  return createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: "der", type: "pkcs8" });
}
