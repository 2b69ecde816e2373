import { RateLimiterRedis, RateLimiterRes } from "rate-limiter-flexible";
import { hashOfToken } from "../../accounts/sessions/sessions.ts";
import { AppError } from "../../lib/errors.ts";
import { newToken } from "../../lib/ids.ts";
import { LIMITS } from "../../limits/catalogue.ts";
import type { Stores } from "../../platform.ts";
import type { Challenge } from "../oauth/token-client.ts";

/** A consent that somebody asked for: whose connection it will be. */
export interface ConsentRequest {
  connectionId: string;
  ownerId: string;
  userId: string;
  app: string;
  name: string;
  /** True if the connection exists, and gets new tokens. */
  isReconnect: boolean;
}

/** A consent for which a browser is at the app. */
export interface PendingConsent {
  request: ConsentRequest;
  challenge: Challenge;
  /** Hash of what that browser has in its cookie; a return to any other is worth nothing. */
  browserHash: string;
}

const KEPT_MS = LIMITS.consentMs.value;
const HOUR_S = 3600;

/**
 * Stores a consent that is asked for, and returns the token of its link, which works once and not for long. Throws
 * `rate-limited` if the account has asked for too many, and `unavailable`.
 */
export async function createTicket(
  platform: Stores,
  request: ConsentRequest,
): Promise<{ token: string; expiresAtMs: number }> {
  await countConsent(platform, request.ownerId);
  const token = newToken();
  const expiresAtMs = platform.clock() + KEPT_MS;
  await put(platform, platform.keys.consentTicket(hashOfToken(token)), request);
  return { token, expiresAtMs };
}

/** Returns the consent that a link asks for; null if there is none, or no longer. Throws `unavailable`. */
export const readTicket = (platform: Stores, token: string): Promise<ConsentRequest | null> =>
  get(platform, platform.keys.consentTicket(hashOfToken(token)), "get");

/** As `readTicket`, and uses the link up. */
export const useTicket = (platform: Stores, token: string): Promise<ConsentRequest | null> =>
  get(platform, platform.keys.consentTicket(hashOfToken(token)), "getdel");

/** Stores a consent for which a browser goes to the app. Throws `unavailable`. */
export const storePending = (platform: Stores, pending: PendingConsent): Promise<void> =>
  put(platform, platform.keys.consentState(hashOfToken(pending.challenge.state)), pending);

/** Returns the consent of a state, and uses it up; null if there is none, or no longer. Throws `unavailable`. */
export const usePending = (platform: Stores, state: string): Promise<PendingConsent | null> =>
  get(platform, platform.keys.consentState(hashOfToken(state)), "getdel");

async function put({ redis, secrets }: Stores, key: string, value: object): Promise<void> {
  await orUnavailable(redis.set(key, secrets.seal(JSON.stringify(value)), "PX", KEPT_MS));
}

async function get<T>({ redis, secrets }: Stores, key: string, how: "get" | "getdel"): Promise<T | null> {
  const sealed = await orUnavailable(redis[how](key));
  return sealed === null ? null : (JSON.parse(secrets.open(sealed)) as T);
}

async function countConsent({ redis, keys }: Stores, ownerId: string): Promise<void> {
  const limiter = new RateLimiterRedis({
    storeClient: redis,
    keyPrefix: `${keys.rateLimit()}-consents`,
    points: LIMITS.consents.value,
    duration: HOUR_S,
    rejectIfRedisNotReady: true,
  });
  try {
    await limiter.consume(ownerId);
  } catch (thrown) {
    if (!(thrown instanceof RateLimiterRes)) throw unavailable(thrown);
    throw new AppError("rate-limited", `the account may ask for ${LIMITS.consents.value} consents an hour`, {
      retryAfterMs: Math.max(1, thrown.msBeforeNext),
    });
  }
}

const unavailable = (cause: unknown) =>
  new AppError("unavailable", "this is not possible right now", { cause, retryAfterMs: 1000 });

const orUnavailable = <T>(reply: Promise<T>): Promise<T> =>
  reply.catch((error: unknown) => {
    throw unavailable(error);
  });
