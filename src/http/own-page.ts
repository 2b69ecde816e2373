import type { Context } from "koa";
import { AppError } from "../lib/errors.ts";

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
