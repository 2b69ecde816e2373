import { type Static, Type } from "typebox";
import { data, routeFor } from "../../http/route.ts";
import { requireNoForeignPage, sessionCookieOf, setSessionCookie } from "../../http/session-cookie.ts";
import { AppError, notFound } from "../../lib/errors.ts";
import type { Logger } from "../../lib/logger.ts";
import { unixSeconds, withDeadline } from "../../lib/time.ts";
import { LIMITS } from "../../limits/catalogue.ts";
import { OpenIdError } from "../../openid/openid-error.ts";
import type { Outbound, Stores } from "../../platform.ts";
import { findLiveSession } from "../sessions/authenticate.ts";
import { endSession } from "../sessions/sessions.ts";
import { beginPending, checkReturnPath } from "./pending.ts";

const route = routeFor<Stores & Outbound>();
const tag = "Sessions";

/** Where the provider sends browsers back to; the operator names it to the provider. */
export const RETURN_PATH = "/dashboard/sign-in/return";

const SignInOptions = Type.Object(
  {
    openid_connect: Type.Union([Type.Object({ name: Type.String() }), Type.Null()], {
      description: "The OpenID provider as people know it; null if there is none.",
    }),
  },
  { title: "SignInOptions" },
);

const options: Static<typeof SignInOptions> = { openid_connect: { name: "Acme" } };

/** Throws `forbidden` for a page at another name of this server: its browser would return without its cookie. */
function requirePublicUrl(origin: string, publicUrl: string): void {
  if (origin === "" || origin === new URL(publicUrl).origin) return;
  throw new AppError(
    "forbidden",
    `open the dashboard at ${publicUrl}/dashboard to sign in with the provider`,
  );
}

/** Where the provider sends browsers after they signed out there; the operator names it to the provider. */
export const SIGNED_OUT_PATH = "/dashboard/sign-in";
/** A provider that is away delays no sign-out for longer. */
const PROVIDER_MS = 3000;

/** Sign-in with an OpenID provider (docs/decisions/0028-openid-connect.md). */
export const openIdRoutes = [
  route({
    method: "GET",
    path: "/sign_in_options",
    id: "getSignInOptions",
    tag,
    summary: "Get the ways to sign in besides API keys and links",
    description: "For a sign-in page; it says nothing about any user.",
    access: { kind: "public" },
    response: data(200, SignInOptions),
    example: { response: options },
    handler: async ({ deps: { config } }) => ({
      openid_connect: config.openid ? { name: config.openid.name } : null,
    }),
  }),
  route({
    method: "POST",
    path: "/openid_sign_ins",
    id: "createOpenIdSignIn",
    audit: null,
    tag,
    summary: "Begin to sign in with the OpenID provider",
    description:
      "Returns the provider's address, to which the page sends the browser, and sets a cookie that binds the sign-in to " +
      `this browser. The provider sends it back to \`${RETURN_PATH}\`, which sets the session's cookie.`,
    access: { kind: "public" },
    body: Type.Object({
      return_to: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: LIMITS.returnPathCharacters.value,
          description: "The page of the dashboard that is shown afterwards: a path below `/dashboard`.",
        }),
      ),
    }),
    response: data(
      201,
      Type.Object({
        url: Type.String({ description: "An address of the provider." }),
        expires_at: Type.Integer({ description: "Unix seconds: when the browser must have returned." }),
      }),
    ),
    errors: ["forbidden", "not-found", "unavailable"],
    example: {
      body: { return_to: "/dashboard/sources" },
      response: {
        url: "https://login.example.com/authorize?client_id=headwater&response_type=code",
        expires_at: 1_700_000_600,
      },
    },
    handler: async ({ deps, body, ctx, log }) => {
      const { config, openid } = deps;
      const cookie = sessionCookieOf(config.publicUrl, "signIn");
      if (!openid || !cookie) throw notFound("OpenID provider");
      requireNoForeignPage(ctx, config.publicUrl);
      requirePublicUrl(ctx.get("origin"), config.publicUrl);
      const returnTo = checkReturnPath(body.return_to ?? "/dashboard");
      const { url, challenge } = await openid
        .begin(config.publicUrl + RETURN_PATH)
        .catch((error: unknown) => {
          if (!(error instanceof OpenIdError)) throw error;
          log.warn({ reason: error.message }, "the OpenID provider can't be used");
          throw new AppError(
            "unavailable",
            `${config.openid?.name ?? "the provider"} can't be reached right now`,
            {
              retryAfterMs: 5000,
            },
          );
        });
      const { pending, sealed } = beginPending(deps, { challenge, returnTo });
      setSessionCookie(ctx, cookie, sealed, LIMITS.providerReturnMs.value / 1000);
      return { url, expires_at: unixSeconds(pending.expiresAtMs) };
    },
  }),
  route({
    method: "POST",
    path: "/openid_sign_outs",
    id: "createOpenIdSignOut",
    audit: "session.ended",
    tag,
    summary: "Sign out, with the OpenID provider too",
    description:
      "Ends the session of the request and deletes its cookie, and returns where the browser signs out with the provider; " +
      "that sends it back to `/dashboard/sign-in`. With an API key it does nothing.",
    access: { kind: "caller" },
    response: data(
      200,
      Type.Object({
        url: Type.Union([Type.String(), Type.Null()], {
          description:
            "An address of the provider. Null if the session did not begin with it, or if it has none or is away.",
        }),
      }),
    ),
    example: {
      response: { url: "https://login.example.com/logout?client_id=headwater&state=8kJ0" },
    },
    handler: async ({ deps, caller, ctx, log, changes }) => {
      const cookie = sessionCookieOf(deps.config.publicUrl);
      if (caller.sessionId === undefined || !cookie) {
        changes(null);
        return { url: null };
      }
      changes({ id: caller.sessionId });
      const url = await signOut(deps, caller.sessionId, log);
      setSessionCookie(ctx, cookie, null, 0);
      return { url };
    },
  }),
];

/**
 * Ends a session, and returns the provider's address at which the browser signs out there too: null if no provider vouched
 * for the session, or if the provider has no such address or is away.
 */
async function signOut(platform: Stores & Outbound, sessionId: string, log: Logger): Promise<string | null> {
  const { openid, config } = platform;
  const session = await findLiveSession(platform, sessionId);
  if (session) await endSession(platform, session);
  if (!openid || session?.key_id !== null) return null;
  try {
    return await withDeadline(
      openid.signOutUrl(config.publicUrl + SIGNED_OUT_PATH),
      PROVIDER_MS,
      () => new OpenIdError("provider-away", "it did not respond in time"),
    );
  } catch (error) {
    if (!(error instanceof OpenIdError)) throw error;
    log.warn({ reason: error.message }, "the OpenID provider has no address to sign out at");
    return null;
  }
}
