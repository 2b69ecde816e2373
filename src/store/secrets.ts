import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import { LRUCache } from "lru-cache";

const ALGORITHM = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Of what was opened lately, sealed and open together; it stays in the memory of this process only. */
const OPENED_CHARS = 4 * 1024 * 1024;

/** Encrypts what must not lie open in a store. */
export interface Secrets {
  /** `v1.<key id>.<base64url>` of the text. */
  seal(text: string): string;
  /** The text again; throws where no key of ours fits, or the value was tampered with. */
  open(sealed: string): string;
}

const keyId = (key: Buffer) => createHash("sha256").update(key).digest("base64url").slice(0, 8);

/**
 * AES-256-GCM under a list of keys of 32 bytes: the first seals, all open (design.md, "Component runtime": `SECRETS_KEY`,
 * rotation by a list).
 */
export function createSecrets(keys: Buffer[]): Secrets {
  const byId = new Map(keys.map(key => [keyId(key), key]));
  const first = keys[0];
  if (!first) throw new Error("no key to seal with");
  // A signing key is needed for each delivery, a source's props for each run.
  const opened = new LRUCache<string, string>({
    maxSize: OPENED_CHARS,
    sizeCalculation: (text, sealed) => text.length + sealed.length,
  });
  const openAnew = (sealed: string): string => {
    const [version, id = "", text = ""] = sealed.split(".");
    const key = byId.get(id);
    if (version !== "v1" || !key) throw new Error("sealed under a key that SECRETS_KEY does not hold");
    const raw = Buffer.from(text, "base64url");
    const decipher = createDecipheriv(ALGORITHM, key, raw.subarray(0, NONCE_BYTES));
    decipher.setAuthTag(raw.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    return decipher.update(raw.subarray(NONCE_BYTES + TAG_BYTES), undefined, "utf8") + decipher.final("utf8");
  };
  return {
    seal(text) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(ALGORITHM, first, nonce);
      const body = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
      return `v1.${keyId(first)}.${Buffer.concat([nonce, cipher.getAuthTag(), body]).toString("base64url")}`;
    },
    open(sealed) {
      const known = opened.get(sealed);
      if (known !== undefined) return known;
      const text = openAnew(sealed);
      opened.set(sealed, text);
      return text;
    },
  };
}
