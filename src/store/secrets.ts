import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import { LRUCache } from "lru-cache";

const ALGORITHM = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Characters of recently decrypted values, encrypted and plain, kept in the memory of this process. */
const MAX_CACHED_CHARS = 4 * 1024 * 1024;

/** Encrypts what must not be readable in a store. */
export interface Secrets {
  /** Encrypts a text; returns `v1.<key id>.<base64url>`. */
  seal(text: string): string;
  /** Decrypts it; throws if no key fits or the value was tampered with. */
  open(sealed: string): string;
  /** The beginnings of what each key encrypted, that of the key that encrypts now first. */
  beginnings: readonly [first: string, ...others: string[]];
}

const keyId = (key: Buffer) => createHash("sha256").update(key).digest("base64url").slice(0, 8);

/**
 * AES-256-GCM with a list of keys of 32 bytes: the first encrypts, all decrypt, so that keys can be rotated
 * (docs/design.md#configuration, `SECRETS_KEY`).
 */
export function createSecrets(keys: Buffer[]): Secrets {
  const byId = new Map(keys.map(key => [keyId(key), key]));
  const first = keys[0];
  if (!first) throw new Error("no key to encrypt with");
  // Every delivery needs a signing key, and every run its source's props.
  const opened = new LRUCache<string, string>({
    maxSize: MAX_CACHED_CHARS,
    sizeCalculation: (text, sealed) => text.length + sealed.length,
  });
  const decrypt = (sealed: string): string => {
    const [version, id = "", text = ""] = sealed.split(".");
    const key = byId.get(id);
    if (version !== "v1" || !key) throw new Error("encrypted with a key that SECRETS_KEY does not contain");
    const raw = Buffer.from(text, "base64url");
    const decipher = createDecipheriv(ALGORITHM, key, raw.subarray(0, NONCE_BYTES));
    decipher.setAuthTag(raw.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    return decipher.update(raw.subarray(NONCE_BYTES + TAG_BYTES), undefined, "utf8") + decipher.final("utf8");
  };
  const [beginning = "", ...others] = [...byId.keys()].map(id => `v1.${id}.`);
  return {
    beginnings: [beginning, ...others],
    seal(text) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(ALGORITHM, first, nonce);
      const body = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
      return `${beginning}${Buffer.concat([nonce, cipher.getAuthTag(), body]).toString("base64url")}`;
    },
    open(sealed) {
      const known = opened.get(sealed);
      if (known !== undefined) return known;
      const text = decrypt(sealed);
      opened.set(sealed, text);
      return text;
    },
  };
}
