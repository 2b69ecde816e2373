import type { Context } from "koa";
import { type Static, Type } from "typebox";
import { clientAddress, clientKey } from "../../http/client-address.ts";
import { createGuessLimit, type GuessLimit } from "../../http/rate-limit.ts";
import { data, empty, page, routeFor } from "../../http/route.ts";
import {
  readSessionCookie,
  requireNoForeignPage,
  requireOwnPage,
  sessionCookieOf,
  setSessionCookie,
} from "../../http/session-cookie.ts";
import { AppError } from "../../lib/errors.ts";
import { openPer } from "../../lib/lazy.ts";
import { unixSeconds } from "../../lib/time.ts";
import { LIMITS } from "../../limits/catalogue.ts";
import type { Session } from "../../models/session.ts";
import type { Stores } from "../../platform.ts";
import { mapPage } from "../../store/page.ts";
import { callerOf, checkProof, makeLink } from "./authenticate.ts";
import { endSession, isSessionToken, listSessions, ownSession, startSession } from "./sessions.ts";

const route = routeFor<Stores>();
const tag = "Sessions";

/** The time in which wrong proofs, and wrong returns from a provider, are counted. */
const GUESSES_S = 15 * 60;

const SessionView = Type.Object(
  {
    id: Type.String({ description: "`ses_…`" }),
    user_id: Type.String(),
    key_id: Type.Union([Type.String(), Type.Null()], {
      description:
        "The API key that it was started with; revoking the key ends the session. Null for a sign-in with an OpenID provider.",
    }),
    current: Type.Boolean({ description: "True for the session of this request." }),
    user_agent: Type.String({ description: "What the browser called itself when it signed in." }),
    created_at: Type.Integer({ description: "Unix seconds." }),
    last_used_at: Type.Integer({ description: "Unix seconds; up to a minute old." }),
    expires_at: Type.Integer({ description: "Unix seconds: when it ends if it is not used again." }),
  },
  { title: "Session" },
);
type SessionView = Static<typeof SessionView>;

const example: SessionView = {
  id: "ses_0CjBBq6Av9MsU2zJ",
  user_id: "u_0CjB8sXp1LmN4vYb",
  key_id: "key_0CjB8sYq2MnO5wZc",
  current: true,
  user_agent: "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0",
  created_at: 1_700_000_000,
  last_used_at: 1_700_000_000,
  expires_at: 1_700_043_200,
};

const present = (session: Session, currentId: string | undefined): SessionView => ({
  id: session._id,
  user_id: session.user_id,
  key_id: session.key_id,
  current: session._id === currentId,
  user_agent: session.user_agent,
  created_at: session.created_at,
  last_used_at: session.last_used_at,
  expires_at: unixSeconds(session.expires_at.getTime()),
});

/** Returns the token of a request's session; undefined if it has none. Throws `forbidden` for another site's page. */
export function readSession({ config }: Stores, ctx: Context): string | undefined {
  const token = readSessionCookie(ctx, config.publicUrl);
  if (token === undefined || !isSessionToken(token)) return undefined;
  requireOwnPage(ctx, config.publicUrl);
  return token;
}

interface SignInLimits {
  proofs: GuessLimit;
  /** Each of them asks the provider, with the operator's client. */
  providerReturns: GuessLimit;
}

/** Returns the limits of wrong guesses at the sign-in. The counts are in Redis; this is only their client. */
export const signInLimitsOf = openPer(
  ({ redis, keys }: Stores): SignInLimits => ({
    proofs: createGuessLimit(redis, {
      keyPrefix: `${keys.rateLimit()}-sign-in`,
      points: LIMITS.signInGuesses.value,
      durationS: GUESSES_S,
      what: "API keys or links from this address",
    }),
    providerReturns: createGuessLimit(redis, {
      keyPrefix: `${keys.rateLimit()}-provider-return`,
      points: LIMITS.providerReturns.value,
      durationS: GUESSES_S,
      what: "returns from the provider at this address",
    }),
  }),
  ({ redis }) => redis,
);

/** Throws `forbidden` if a browser would not keep a session's cookie, or everybody on the way could read it. */
function cookieOf({ config }: Stores) {
  const cookie = sessionCookieOf(config.publicUrl);
  if (cookie) return cookie;
  throw new AppError("forbidden", "browsers can sign in over https only: set PUBLIC_URL to an https address");
}

/** Sign-in of browsers (docs/decisions/0024-sessions.md). */
export const sessionRoutes = [
  route({
    method: "POST",
    path: "/sessions",
    id: "createSession",
    audit: "session.started",
    tag,
    summary: "Sign in a browser",
    description:
      "Takes an API key, or the token of a one-time link, and sets a cookie, with which the browser may call every " +
      "operation. The cookie's name is `headwater`, without `__Host-`, where `PUBLIC_URL` is http on this machine.",
    access: { kind: "public" },
    body: Type.Object({
      api_key: Type.Optional(Type.String({ minLength: 1, maxLength: 512 })),
      link: Type.Optional(
        Type.String({ minLength: 1, maxLength: 512, description: "`hwl_…`, from `POST /sign_in_links`." }),
      ),
    }),
    requiresOneOf: ["api_key", "link"],
    response: data(201, SessionView),
    errors: ["unauthenticated", "forbidden", "rate-limited", "unavailable"],
    example: { body: { api_key: "hw_0123456789ABCDEFGHIJKLMNOPQRSTUV" }, response: example },
    handler: async ({ deps, body, ctx, changes }) => {
      requireNoForeignPage(ctx, deps.config.publicUrl);
      const cookie = cookieOf(deps);
      const proven = await checkProof(deps, body, () =>
        signInLimitsOf(deps).proofs(clientKey(clientAddress(ctx)), false),
      );
      const userAgent = ctx.get("user-agent");
      const { session, token } = await startSession(deps, { ...proven, userAgent });
      setSessionCookie(ctx, cookie, token, LIMITS.sessionMs.value / 1000);
      changes({ ownerId: session.user_id, caller: callerOf(session) });
      return present(session, session._id);
    },
  }),
  route({
    method: "GET",
    path: "/sessions",
    id: "listSessions",
    tag,
    summary: "List your sessions",
    description: "Browsers that are signed in as you. The one of this request is marked.",
    access: { kind: "caller" },
    response: page(200, SessionView),
    example: { response: example },
    handler: async ({ deps, caller, page }) =>
      mapPage(await listSessions(deps, caller.userId, page), session => present(session, caller.sessionId)),
  }),
  route({
    method: "DELETE",
    path: "/sessions/current",
    id: "endCurrentSession",
    audit: "session.ended",
    tag,
    summary: "Sign out",
    description: "Ends the session of the request and deletes its cookie. With an API key it does nothing.",
    access: { kind: "caller" },
    response: empty(204),
    handler: async ({ deps, caller, ctx, changes }) => {
      if (caller.sessionId === undefined) return changes(null);
      changes({ id: caller.sessionId });
      await endSession(deps, { _id: caller.sessionId, user_id: caller.userId });
      setSessionCookie(ctx, cookieOf(deps), null, 0);
    },
  }),
  route({
    method: "DELETE",
    path: "/sessions/{id}",
    id: "endSession",
    audit: "session.ended",
    tag,
    summary: "End a session",
    description: "The browser is signed out at its next request.",
    access: ownSession,
    response: empty(204),
    example: { params: { id: example.id } },
    handler: ({ deps, resource }) => endSession(deps, resource),
  }),
  route({
    method: "POST",
    path: "/sign_in_links",
    id: "createSignInLink",
    audit: "sign_in_link.created",
    tag,
    summary: "Make a link that signs a browser in once",
    description:
      "The link works once, for ten minutes, and replaces an earlier one. It needs an API key: a session would outlive " +
      "itself by its links.",
    access: { kind: "caller" },
    response: data(
      201,
      Type.Object({
        url: Type.String({ description: "The token is in its fragment, which browsers send nowhere." }),
        expires_at: Type.Integer({ description: "Unix seconds." }),
      }),
    ),
    errors: ["forbidden"],
    example: {
      response: {
        url: "https://headwater.example.com/dashboard/sign-in#link=hwl_kJ0…",
        expires_at: 1_700_000_600,
      },
    },
    handler: async ({ deps, caller }) => {
      cookieOf(deps);
      if (caller.sessionId !== undefined) {
        throw new AppError("forbidden", "a link needs an API key, not a session");
      }
      const { token, expiresAtMs } = await makeLink(deps, { userId: caller.userId, keyId: caller.keyId });
      const url = `${deps.config.publicUrl}/dashboard/sign-in#link=${token}`;
      return { url, expires_at: unixSeconds(expiresAtMs) };
    },
  }),
];
