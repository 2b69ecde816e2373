import type { Context, Middleware } from "koa";
import { findUser, NotLetIn, type SignInProblem } from "../accounts/openid-connect/find-user.ts";
import { openPending, type PendingSignIn, usePending } from "../accounts/openid-connect/pending.ts";
import { RETURN_PATH } from "../accounts/openid-connect/routes.ts";
import { callerOf } from "../accounts/sessions/authenticate.ts";
import { signInLimitsOf } from "../accounts/sessions/routes.ts";
import { lifeOf, startSession } from "../accounts/sessions/sessions.ts";
import { recordChange } from "../audit/record.ts";
import { clientAddress, clientKey } from "../http/client-address.ts";
import { requestState } from "../http/request-log.ts";
import { readSessionCookie, sessionCookieOf, setSessionCookie } from "../http/session-cookie.ts";
import { AppError } from "../lib/errors.ts";
import { OpenIdError } from "../openid/openid-error.ts";
import type { OpenIdProvider } from "../openid/provider.ts";
import type { Outbound, Stores } from "../platform.ts";
import { DASHBOARD_PATH } from "./dashboard.ts";
import { seeOther } from "./sign-in.ts";

/**
 * Serves the address to which an OpenID provider sends browsers back (docs/decisions/0028-openid-connect.md): starts a
 * session and goes on to the page that was asked for, or to the sign-in page with the name of the problem, for which that
 * page has a sentence. Nothing of the request gets into the page, an address or a log.
 */
export function openIdReturn(platform: Stores & Outbound): Middleware {
  const { openid } = platform;
  if (!openid) return (_ctx, next) => next();
  return async (ctx, next) => {
    if (ctx.path !== RETURN_PATH || ctx.method !== "GET") return next();
    requestState(ctx).route = RETURN_PATH;
    // The code is in the address.
    ctx.set({ "Cache-Control": "no-store", "Referrer-Policy": "no-referrer" });
    const { publicUrl } = platform.config;
    try {
      seeOther(ctx, publicUrl + (await signIn(platform, openid, ctx)));
    } catch (error) {
      const problem = problemOf(error);
      const { log } = requestState(ctx);
      if (problem === "unavailable") log.error({ err: error }, "sign-in with the OpenID provider failed");
      else
        log.warn(
          { problem, reason: (error as Error).message },
          "sign-in with the OpenID provider was rejected",
        );
      seeOther(ctx, `${publicUrl}${DASHBOARD_PATH}/sign-in?problem=${problem}`);
    }
  };
}

/** Starts the session of the person who returns, and returns the page to show. Throws OpenIdError, NotLetIn and AppError. */
async function signIn(platform: Stores & Outbound, openid: OpenIdProvider, ctx: Context): Promise<string> {
  const { config } = platform;
  const pending = await claimPending(platform, ctx);
  const limitGuesses = (isRight: boolean) =>
    signInLimitsOf(platform).providerReturns(clientKey(clientAddress(ctx)), isRight);
  await limitGuesses(true);
  const returned = new URL(`${config.publicUrl}${RETURN_PATH}?${ctx.querystring}`);
  const claims = await openid.finish(returned, pending.challenge).catch(async (error: unknown) => {
    if (error instanceof OpenIdError && error.fault === "not-proven") await limitGuesses(false);
    throw error;
  });
  const { rules, createsAccounts, linksAccounts } = config.openid ?? missing();
  const userId = await findUser(platform, claims, { rules, createsAccounts, linksAccounts });
  const userAgent = ctx.get("user-agent");
  const { session, token } = await startSession(platform, { userId, keyId: null, userAgent });
  setSessionCookie(ctx, sessionCookieOf(config.publicUrl) ?? missing(), token, lifeOf(session) / 1000);
  await recordChange(platform, {
    ...{ action: "session.started", ownerId: userId, caller: callerOf(session) },
    thing: { id: session._id, name: null },
    ...{ fields: [], isDone: true, address: clientAddress(ctx), userAgent },
  });
  requestState(ctx).userId = userId;
  return pending.returnTo;
}

/** Returns the sign-in that this browser began with this state, and uses it up. Throws NotLetIn if there is none. */
async function claimPending(platform: Stores & Outbound, ctx: Context): Promise<PendingSignIn> {
  const { publicUrl } = platform.config;
  const cookie = sessionCookieOf(publicUrl, "signIn") ?? missing();
  const state = ctx.query.state;
  const sealed = readSessionCookie(ctx, publicUrl, "signIn") ?? "";
  const pending = typeof state === "string" ? openPending(platform, sealed, state) : null;
  if (!pending) throw new NotLetIn("not-yours");
  setSessionCookie(ctx, cookie, null, 0);
  if (!(await usePending(platform, pending))) throw new NotLetIn("not-yours");
  return pending;
}

/** The settings are checked at the start: there is no provider without them. */
function missing(): never {
  throw new Error("there is an OpenID provider without its settings");
}

function problemOf(error: unknown): SignInProblem {
  if (error instanceof OpenIdError) return error.fault;
  if (error instanceof NotLetIn) return error.problem;
  return error instanceof AppError && error.code === "rate-limited" ? "too-many" : "unavailable";
}
