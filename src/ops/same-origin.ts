import type { Context } from "koa";
import { AppError } from "../lib/errors.ts";

const originOf = (url: string): string | null => (URL.canParse(url) ? new URL(url).origin : null);

/**
 * Throws `forbidden` for a change that a page of another origin may have asked for (docs/design.md#browsers). Browsers send
 * `Origin` with every request but GET and HEAD; `Sec-Fetch-Site` only over https and to loopback. So a change must name
 * its origin, and that must be this server's: the host of the request, or `PUBLIC_URL`'s. A cookie with SameSite=Strict
 * does not replace this check, because another port or a sibling domain is the same site.
 */
export function requireSameOrigin(ctx: Context, publicUrl: string): void {
  if (ctx.method === "GET" || ctx.method === "HEAD") return;
  const origin = originOf(ctx.get("origin"));
  const isOwn = origin !== null && (new URL(origin).host === ctx.host || origin === originOf(publicUrl));
  const isForeign = !["", "same-origin"].includes(ctx.get("sec-fetch-site"));
  if (isOwn && !isForeign) return;
  throw new AppError("forbidden", "changes are accepted from the board's own pages only");
}
