import { AppError, invalidField } from "../../lib/errors.ts";
import { isSameSecret } from "../../lib/ids.ts";
import { LIMITS } from "../../limits/catalogue.ts";
import type { Challenge } from "../../openid/provider.ts";
import type { Stores } from "../../platform.ts";
import { hashOfToken } from "../sessions/sessions.ts";

/** A sign-in that is with the provider. Only its browser keeps it, encrypted: strangers make us store nothing. */
export interface PendingSignIn {
  challenge: Challenge;
  /** The page that is shown afterwards. */
  returnTo: string;
  expiresAtMs: number;
}

/** What else is encrypted with the same key can't be used as a sign-in. */
const PURPOSE = "openid-connect";

/** Where the dashboard's pages are; no other page is returned to. */
const DASHBOARD = "/dashboard";

/**
 * Returns the page of the dashboard that a path names, as a path of this server whatever a browser makes of backslashes and
 * the like. Throws `invalid` for any other.
 */
export function checkReturnPath(path: string): string {
  const base = "http://own.invalid";
  const parsed = URL.canParse(path, base) ? new URL(path, base) : null;
  const isOwn =
    path.startsWith("/") &&
    parsed?.origin === base &&
    (parsed.pathname === DASHBOARD || parsed.pathname.startsWith(`${DASHBOARD}/`));
  if (!isOwn || path.length > LIMITS.returnPathCharacters.value) {
    throw invalidField("body", "return_to", `must be a path below ${DASHBOARD}`);
  }
  return parsed.pathname + parsed.search;
}

/** Returns a sign-in that begins now, and the text that its browser keeps. */
export function beginPending(
  { secrets, clock }: Stores,
  { challenge, returnTo }: Pick<PendingSignIn, "challenge" | "returnTo">,
): { pending: PendingSignIn; sealed: string } {
  const pending = { challenge, returnTo, expiresAtMs: clock() + LIMITS.providerReturnMs.value };
  return { pending, sealed: secrets.seal(JSON.stringify({ purpose: PURPOSE, ...pending })) };
}

/** Returns the sign-in that a browser keeps, if it is the one of this state and not too old; otherwise null. */
export function openPending({ secrets, clock }: Stores, sealed: string, state: string): PendingSignIn | null {
  let pending: (PendingSignIn & { purpose?: string }) | null;
  try {
    pending = JSON.parse(secrets.open(sealed));
  } catch {
    return null;
  }
  if (pending?.purpose !== PURPOSE || pending.expiresAtMs <= clock()) return null;
  return isSameSecret(state, pending.challenge.state) ? pending : null;
}

/** Uses a sign-in up; returns false if it was used before. Throws `unavailable` if Redis is away. */
export async function usePending({ redis, keys }: Stores, { challenge }: PendingSignIn): Promise<boolean> {
  try {
    const ms = LIMITS.providerReturnMs.value;
    return (await redis.set(keys.usedSignIn(hashOfToken(challenge.state)), "1", "PX", ms, "NX")) === "OK";
  } catch (error) {
    throw new AppError("unavailable", "this can't be checked right now", {
      cause: error,
      retryAfterMs: 1000,
    });
  }
}
