import type { Context } from "koa";
import { AppError } from "../lib/errors.ts";
import { isLoopback } from "../lib/hosts.ts";

/**
 * The cookie of a session (docs/decisions/0024-sessions.md). With the prefix, browsers take it over https only, for all
 * paths of exactly this host, and no other host can set it. Without TLS, a browser accepts it from this machine only.
 */
const SECURE_PREFIX = "__Host-";
const NAMES = {
  /** A session. */
  session: "headwater",
  /** A sign-in that is with a provider. */
  signIn: "headwater-sign-in",
  /** A consent that is with an app. */
  consent: "headwater-consent",
} as const;

export interface SessionCookie {
  name: string;
  isSecure: boolean;
}

/** Returns how the server at `PUBLIC_URL` names its cookie; null over plain http to another machine, where anybody could read it. */
export function sessionCookieOf(
  publicUrl: string,
  what: keyof typeof NAMES = "session",
): SessionCookie | null {
  const { protocol, hostname } = new URL(publicUrl);
  if (protocol === "https:") return { name: SECURE_PREFIX + NAMES[what], isSecure: true };
  return isLoopback(hostname) ? { name: NAMES[what], isSecure: false } : null;
}

/** Returns the token in the request's cookie; undefined if it has none. */
export function readSessionCookie(
  ctx: Context,
  publicUrl: string,
  what?: keyof typeof NAMES,
): string | undefined {
  const cookie = sessionCookieOf(publicUrl, what);
  return cookie ? ctx.cookies.get(cookie.name) : undefined;
}

/** Sets the cookie, or deletes it if `token` is null. By hand, because Koa knows no TLS that a proxy in front ends. */
export function setSessionCookie(
  ctx: Context,
  { name, isSecure }: SessionCookie,
  token: string | null,
  maxAgeS: number,
): void {
  const attributes = ["Path=/", `Max-Age=${token === null ? 0 : maxAgeS}`, "HttpOnly", "SameSite=Lax"];
  ctx.append(
    "Set-Cookie",
    [`${name}=${token ?? ""}`, ...attributes, ...(isSecure ? ["Secure"] : [])].join("; "),
  );
}

const OWN_NAMES = Object.values(NAMES).flatMap(name => [name, SECURE_PREFIX + name]);

/**
 * Returns a `Cookie` header without those of sessions and sign-ins; undefined if nothing is left. Endpoints of sources may share the host of
 * the API, and what they receive is shown to the component's author.
 */
export function withoutSessionCookie(header: string): string | undefined {
  const isSession = (pair: string) => OWN_NAMES.includes(pair.split("=")[0]?.trim() ?? "");
  const others = header.split(";").filter(pair => !isSession(pair));
  return others.join(";").trim() || undefined;
}

const originOf = (url: string): string | null => (URL.canParse(url) ? new URL(url).origin : null);

/** Returns true if the request's `Origin` is this server's: the host of the request, or `PUBLIC_URL`'s origin. */
export function hasOwnOrigin(ctx: Context, publicUrl: string): boolean {
  const origin = originOf(ctx.get("origin"));
  return origin !== null && (new URL(origin).host === ctx.host || origin === originOf(publicUrl));
}

/**
 * Throws `forbidden` for a request with a session's cookie that a page of another origin may have made
 * (docs/decisions/0024-sessions.md). Another port or a sibling domain is the same site, to which SameSite=Lax sends the
 * cookie. What browsers say in `Sec-Fetch-Site` decides; without it, a change must name an `Origin` that is this server's.
 * A read without either header changes nothing, and no other origin may see its response.
 */
export function requireOwnPage(ctx: Context, publicUrl: string): void {
  const isRead = ctx.method === "GET" || ctx.method === "HEAD";
  const site = ctx.get("sec-fetch-site");
  const isOwn =
    site === ""
      ? isRead || hasOwnOrigin(ctx, publicUrl)
      : site === "same-origin" || (isRead && site === "none");
  if (!isOwn) throw new AppError("forbidden", "a session is accepted from this server's own pages only");
}

/** As `requireOwnPage`, for a request that starts a session: programs, which send neither header, may start one too. */
export function requireNoForeignPage(ctx: Context, publicUrl: string): void {
  if (ctx.get("sec-fetch-site") !== "" || ctx.get("origin") !== "") requireOwnPage(ctx, publicUrl);
}
