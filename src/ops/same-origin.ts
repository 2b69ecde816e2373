import type { Context } from "koa";
import { hasOwnOrigin } from "../http/own-page.ts";
import { AppError } from "../lib/errors.ts";

/**
 * Throws `forbidden` for a change that a page of another origin may have asked for (docs/design.md#browsers). Browsers send
 * `Origin` with every request but GET and HEAD; `Sec-Fetch-Site` only over https and to loopback. So a change must name
 * its origin, and that must be this server's: the host of the request, or `PUBLIC_URL`'s. A cookie with SameSite=Strict
 * does not replace this check, because another port or a sibling domain is the same site.
 */
export function requireSameOrigin(ctx: Context, publicUrl: string): void {
  if (ctx.method === "GET" || ctx.method === "HEAD") return;
  const isForeign = !["", "same-origin"].includes(ctx.get("sec-fetch-site"));
  if (hasOwnOrigin(ctx, publicUrl) && !isForeign) return;
  throw new AppError("forbidden", "changes are accepted from the board's own pages only");
}
