import { createHash, createHmac, hkdfSync, randomBytes, timingSafeEqual } from "node:crypto";

/** A session of the operator in the board. */
export interface Session {
  id: string;
  expiresAtMs: number;
}

/**
 * Sessions that are stored nowhere: the token itself holds id and expiry, signed with a key derived from `SECRETS_KEY`.
 * Keys rotate as they do for secrets: the first signs, all verify. The password is derived in too, so a new one ends all
 * sessions.
 */
export class Sessions {
  readonly #keys: Buffer[];
  readonly #lifeMs: number;

  /** `lifeMs` is how long a session is valid; using it does not prolong it. */
  constructor(secretsKeys: readonly Buffer[], password: string, lifeMs: number) {
    const salt = createHash("sha256").update(password).digest();
    this.#keys = secretsKeys.map(key =>
      Buffer.from(hkdfSync("sha256", key, salt, "headwater board session", 32)),
    );
    this.#lifeMs = lifeMs;
  }

  /** Returns the token of a new session. */
  start(nowMs: number): string {
    const claim = `${randomBytes(16).toString("base64url")}.${(nowMs + this.#lifeMs).toString(36)}`;
    return `${claim}.${signatureOf(this.#keys[0] as Buffer, claim).toString("base64url")}`;
  }

  /** Returns the session of a token; null if we did not sign it or if it has expired. */
  verify(token: string, nowMs: number): Session | null {
    const [, claim = "", id = "", expiry = "", signature = ""] =
      /^(([\w-]{22})\.([0-9a-z]{1,11}))\.([\w-]{43})$/.exec(token) ?? [];
    if (!id) return null;
    const given = Buffer.from(signature, "base64url");
    if (!this.#keys.some(key => timingSafeEqual(signatureOf(key, claim), given))) return null;
    const expiresAtMs = Number.parseInt(expiry, 36);
    return expiresAtMs > nowMs ? { id, expiresAtMs } : null;
  }
}

const signatureOf = (key: Buffer, claim: string): Buffer => createHmac("sha256", key).update(claim).digest();
