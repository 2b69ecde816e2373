import { timingSafeEqual } from "node:crypto";
import { createBullBoard } from "@bull-board/api";
import { BullMQAdapter } from "@bull-board/api/bullMQAdapter";
import { KoaAdapter } from "@bull-board/koa";
import type { Context, Middleware } from "koa";
import compose from "koa-compose";
import { createGuessLimit } from "../http/guess-limit.ts";
import { AppError } from "../lib/errors.ts";
import type { Platform } from "../platform.ts";

export const BOARD_PATH = "/admin/queues";

/** Allows inline scripts, because the board's page has one; only the operator can open that page. */
const CSP =
  "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; frame-ancestors 'none'";

/** Enough for somebody who mistypes the password, far too few for a list of common passwords. */
const GUESSES = { points: 20, durationS: 15 * 60 };

/** Returns true if the request has the credentials of the admin, null if it has none at all, which is not a guess. */
function isAdmin(ctx: Context, password: string): boolean | null {
  const [scheme, token = ""] = ctx.get("authorization").split(" ");
  if (scheme?.toLowerCase() !== "basic" || token === "") return null;
  const actual = Buffer.from(token, "base64");
  const expected = Buffer.from(`admin:${password}`);
  return actual.length === expected.length && timingSafeEqual(actual, expected);
}

/** Serves Bull Board at `/admin/queues` for the user `admin` with `ADMIN_PASSWORD`; there is no board without it. */
export function board(platform: Pick<Platform, "queues" | "config" | "redis" | "keys">): Middleware {
  const { adminPassword } = platform.config;
  if (adminPassword === undefined) return (_ctx, next) => next();
  const adapter = new KoaAdapter();
  adapter.setBasePath(BOARD_PATH);
  createBullBoard({
    queues: [...platform.queues.values()].map(queue => new BullMQAdapter(queue)),
    serverAdapter: adapter,
  });
  const keyPrefix = `${platform.keys.rateLimit()}-board`;
  const limitGuesses = createGuessLimit(platform.redis, { keyPrefix, ...GUESSES });
  const serve = compose([adapter.registerPlugin() as Middleware]);
  return async (ctx, next) => {
    if (ctx.path !== BOARD_PATH && !ctx.path.startsWith(`${BOARD_PATH}/`)) return next();
    ctx.state.route = BOARD_PATH;
    const isRight = isAdmin(ctx, adminPassword);
    // With TRUST_PROXY, the last address is the one that our own proxy saw. Clients can forge the ones before it.
    if (isRight !== null) await limitGuesses(ctx.ips.at(-1) ?? ctx.ip, isRight);
    if (!isRight) {
      ctx.status = 401;
      ctx.set("www-authenticate", 'Basic realm="Headwater", charset="UTF-8"');
      ctx.body = "Log in as user admin with ADMIN_PASSWORD.";
      return;
    }
    // A browser sends the password with requests from any page, so only the board's own page may make changes.
    const isChange = ctx.method !== "GET" && ctx.method !== "HEAD";
    if (isChange && !["", "same-origin"].includes(ctx.get("sec-fetch-site"))) {
      throw new AppError("forbidden", "changes are accepted from the board's own page only");
    }
    ctx.set("content-security-policy", CSP);
    await serve(ctx, next);
  };
}
