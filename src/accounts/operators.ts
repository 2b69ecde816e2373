import { AppError, notFound } from "../lib/errors.ts";
import { openPer } from "../lib/lazy.ts";
import { LIMITS } from "../limits/catalogue.ts";
import { Users } from "../models/user.ts";
import type { Stores } from "../platform.ts";
import { createKeyRateLimiter } from "../store/limits/key-rate.ts";

/** Whether a user may do what the routes of operators do, which an operator grants at the command line. */
export async function isOperator({ mongo }: Stores, userId: string): Promise<boolean> {
  return (await Users(mongo).exists({ _id: userId, operator: true })) !== null;
}

/** Throws `forbidden` for other users than operators. Asked at each request, so that it ends at once. */
async function requireOperator(platform: Stores, userId: string): Promise<void> {
  if (await isOperator(platform, userId)) return;
  throw new AppError("forbidden", "only an operator may do this: headwater user operator <user id>");
}

/** The access rule of routes that operators call. */
export const forOperators = { kind: "operator", check: requireOperator } as const;

/** Makes a user an operator, or ends that. Throws `not-found`. */
export async function setOperator(
  { mongo }: Stores,
  userId: string,
  operator: boolean,
): Promise<{ id: string; operator: boolean }> {
  const change = operator ? { $set: { operator: true as const } } : { $unset: { operator: 1 as const } };
  const { matchedCount } = await Users(mongo).updateOne({ _id: userId }, change);
  if (matchedCount === 0) throw notFound("user");
  return { id: userId, operator };
}

const HOUR_S = 3600;

const limitOf = openPer(
  ({ redis, keys }: Stores) =>
    createKeyRateLimiter(redis, {
      keyPrefix: `${keys.rateLimit()}-accounts-made`,
      points: LIMITS.accountsMade.value,
      durationS: HOUR_S,
      burst: LIMITS.accountsMade.value,
    }),
  ({ redis }) => redis,
);

/** Counts an account that an operator makes. Throws `rate-limited`: a key that was stolen fills no database. */
export async function countAccountMade(platform: Stores, userId: string): Promise<void> {
  const { ok, resetMs } = await limitOf(platform)(userId).catch((cause: unknown) => {
    throw new AppError("unavailable", "this can't be counted right now", { cause, retryAfterMs: 1000 });
  });
  if (ok) return;
  const message = `an operator makes at most ${LIMITS.accountsMade.value} users and organizations in an hour`;
  throw new AppError("rate-limited", message, { retryAfterMs: Math.max(1, resetMs) });
}
