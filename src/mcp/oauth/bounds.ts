import type { Context } from "koa";
import { clientAddress, clientKey } from "../../http/client-address.ts";
import { type RateLimit, rateLimit } from "../../http/rate-limit.ts";
import { openPer } from "../../lib/lazy.ts";
import { LIMITS } from "../../limits/catalogue.ts";
import type { Stores } from "../../platform.ts";
import { createKeyRateLimiter } from "../../store/limits/key-rate.ts";

/** Returns what bounds the requests of strangers, by their addresses; the counts are in Redis, for all web processes. */
export const oauthLimitsOf = openPer(
  ({ redis, keys }: Stores) => {
    const limitOf = (name: string, points: number, durationS: number) =>
      createKeyRateLimiter(redis, {
        keyPrefix: `${keys.rateLimit()}-oauth-${name}`,
        ...{ points, durationS, burst: points },
      });
    const registrations = limitOf("register", LIMITS.oauthRegistrations.value, 3600);
    const ofAddress = (limit: RateLimit) => (ctx: Context) => limit(ctx, clientKey(clientAddress(ctx)));
    return {
      /** Throws `rate-limited` for too many requests of an address. */
      request: ofAddress(
        rateLimit(limitOf("request", LIMITS.oauthRequests.value, 60), "too many requests from this address"),
      ),
      /** Throws `rate-limited` if too many clients register from an address. */
      registration: ofAddress(rateLimit(registrations, "too many clients from this address")),
      /** Returns false if too many metadata documents are fetched for an address; without a request, a user asks. */
      mayFetch: async (ctx: Context | undefined) =>
        ctx === undefined || (await registrations(clientKey(clientAddress(ctx)))).ok,
    };
  },
  ({ redis }) => redis,
);
