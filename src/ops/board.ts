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

/** The board's page brings an inline script; it is the operator's alone, so its rules are its own. */
const CSP =
  "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; frame-ancestors 'none'";

/** A person mistypes a few times; a list of usual passwords has thousands. */
const GUESSES = { points: 20, durationS: 15 * 60 };

/** Whether the request names the admin with this password; null when it names nobody, which is no guess. */
function isAdmin(ctx: Context, password: string): boolean | null {
  const [scheme, token = ""] = ctx.get("authorization").split(" ");
  if (scheme?.toLowerCase() !== "basic" || token === "") return null;
  const given = Buffer.from(token, "base64");
  const wanted = Buffer.from(`admin:${password}`);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

/** BullMQ's board at `/admin/queues`, for user `admin` with `ADMIN_PASSWORD`; without that setting there is none. */
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
    // With TRUST_PROXY the last address is the one that our own router saw; those before it anyone can write.
    if (isRight !== null) await limitGuesses(ctx.ips.at(-1) ?? ctx.ip, isRight);
    if (!isRight) {
      ctx.status = 401;
      ctx.set("www-authenticate", 'Basic realm="Headwater", charset="UTF-8"');
      ctx.body = "The board needs user admin and ADMIN_PASSWORD.";
      return;
    }
    // A browser sends the password along with whatever page asks: only the board's own may change things.
    const isChange = ctx.method !== "GET" && ctx.method !== "HEAD";
    if (isChange && !["", "same-origin"].includes(ctx.get("sec-fetch-site"))) {
      throw new AppError("forbidden", "the board takes changes from its own page only");
    }
    ctx.set("content-security-policy", CSP);
    await serve(ctx, next);
  };
}
