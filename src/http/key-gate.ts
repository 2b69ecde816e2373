import { createHash } from "node:crypto";
import type { Context } from "koa";
import { LRUCache } from "lru-cache";
import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";
import { AppError } from "../lib/errors.ts";
import { LIMITS } from "../limits/catalogue.ts";
import { type Authenticate, readKey } from "./authorize.ts";
import { clientAddress, clientKey } from "./client-address.ts";
import type { RateLimit } from "./rate-limit.ts";
import type { Caller } from "./route.ts";

/** Keys that this process remembers, each as a digest. */
const REMEMBERED = 10_000;
/** Short, because a store that lags may not know a new key yet. */
const UNKNOWN_FOR_MS = 5_000;

export interface KeyGateOptions {
  authenticate: Authenticate;
  /** Returns false for a text that can't be a key, which is then rejected without a look-up. */
  isKey: (text: string) => boolean;
  /** Returns the token of the request's session; undefined if it has none. Throws if the request may not use it. */
  readSession?: ((ctx: Context) => string | undefined) | undefined;
  /** Counts a request of a key; throws `rate-limited` if it exceeds the limit. */
  rateLimit: RateLimit | undefined;
}

/** What a request is authenticated with. */
interface Given {
  credential: string;
  /** The error for one that is not known. */
  unknown: () => AppError;
  isCounted: boolean;
}

/**
 * Finds the callers of requests, by their API keys or, without one, their sessions, so that no flood reaches MongoDB: a key
 * (or the token of a session) that this process has seen is counted against its rate limit before it is looked up, and an address may have `LIMITS.unknownKeys` others looked up in a minute. What is
 * remembered is only that a key exists: each request still looks up whether it is valid, so that a revocation holds at once.
 */
export class KeyGate {
  readonly #options: KeyGateOptions;
  readonly #known = new LRUCache<string, string>({ max: REMEMBERED });
  readonly #unknown = new LRUCache<string, true>({ max: REMEMBERED, ttl: UNKNOWN_FOR_MS });
  readonly #lookUps = new RateLimiterMemory({ points: LIMITS.unknownKeys.value, duration: 60 });

  constructor(options: KeyGateOptions) {
    this.#options = options;
  }

  /**
   * Returns the caller of a request. Throws `unauthenticated` if its key is missing, malformed, unknown or revoked, or its
   * session has ended; `forbidden` if another site's page uses the session; and `rate-limited` for too many requests of a
   * key or a session, or too many unknown ones from an address. `isCounted`: whether the request counts for its key.
   */
  async caller(ctx: Context, { isCounted = true }: { isCounted?: boolean } = {}): Promise<Caller> {
    const session = ctx.get("authorization") === "" ? this.#options.readSession?.(ctx) : undefined;
    if (session !== undefined)
      return await this.#callerOf(ctx, { credential: session, unknown: sessionEnded, isCounted });
    const apiKey = readKey(ctx);
    if (!this.#options.isKey(apiKey)) throw unknownKey();
    return await this.#callerOf(ctx, { credential: apiKey, unknown: unknownKey, isCounted });
  }

  async #callerOf(ctx: Context, given: Given): Promise<Caller> {
    const { credential, unknown, isCounted } = given;
    const digest = createHash("sha256").update(credential).digest("base64");
    if (this.#unknown.has(digest)) throw unknown();
    const keyId = this.#known.get(digest);
    if (keyId === undefined) return await this.#callerOfNew(ctx, digest, given);
    if (isCounted) await this.#options.rateLimit?.(ctx, keyId);
    const caller = await this.#options.authenticate(credential);
    if (caller) return caller;
    this.#known.delete(digest);
    throw unknown();
  }

  async #callerOfNew(
    ctx: Context,
    digest: string,
    { credential, unknown, isCounted }: Given,
  ): Promise<Caller> {
    const client = clientKey(clientAddress(ctx));
    await this.#countLookUp(client);
    let isMiss = false;
    try {
      const caller = await this.#options.authenticate(credential);
      isMiss = caller === null;
      if (!caller) {
        this.#unknown.set(digest, true);
        throw unknown();
      }
      this.#known.set(digest, caller.keyId);
      if (isCounted) await this.#options.rateLimit?.(ctx, caller.keyId);
      return caller;
    } finally {
      if (!isMiss) await this.#lookUps.reward(client);
    }
  }

  /** Before the look-up, so that concurrent ones count too. */
  async #countLookUp(client: string): Promise<void> {
    try {
      await this.#lookUps.consume(client);
    } catch (thrown) {
      if (!(thrown instanceof RateLimiterRes)) throw thrown;
      throw new AppError("rate-limited", "too many unknown API keys from this address", {
        retryAfterMs: Math.max(1, thrown.msBeforeNext),
      });
    }
  }
}

const unknownKey = () => new AppError("unauthenticated", "the API key is unknown or revoked");
const sessionEnded = () => new AppError("unauthenticated", "the session has ended: sign in again");
