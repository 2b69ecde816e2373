import type { Context, Middleware } from "koa";
import compose from "koa-compose";
import { recordOfOperator } from "../audit/record.ts";
import { clientAddress } from "../http/client-address.ts";
import { hasOwnOrigin } from "../http/session-cookie.ts";
import { AppError } from "../lib/errors.ts";
import { loadLater } from "../lib/lazy.ts";
import type { Queued, Stores } from "../platform.ts";
import { ADMIN_PATH, BOARD_PATH, SIGN_IN_PATH, SIGN_OUT_PATH, SignIn, seeOther } from "./sign-in.ts";

// Ten packages, among them a template engine: loaded when the operator opens the board.
const api = loadLater<typeof import("@bull-board/api")>("@bull-board/api", import.meta.url);
const bullMQ = loadLater<typeof import("@bull-board/api/bullMQAdapter")>(
  "@bull-board/api/bullMQAdapter",
  import.meta.url,
);
const koa = loadLater<typeof import("@bull-board/koa")>("@bull-board/koa", import.meta.url);

/** Allows inline scripts, because the board's page has one; only the operator can open that page. */
const CSP =
  "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; frame-ancestors 'none'";

const isAt = (ctx: Context, path: string) => ctx.path === path || ctx.path.startsWith(`${path}/`);

/**
 * Serves Bull Board at `/admin/queues` to the operator, who signs in with `ADMIN_PASSWORD`; there is no board without it
 * (docs/design.md#browsers).
 */
export function board(platform: Stores & Queued): Middleware {
  const { adminPassword } = platform.config;
  if (adminPassword === undefined) return (_ctx, next) => next();
  const signIn = new SignIn(platform, adminPassword);
  const serve = compose([signIn.pages, requireSession(signIn), recordChanges(platform), bullBoard(platform)]);
  return async (ctx, next) => {
    if (!isAt(ctx, ADMIN_PATH)) return next();
    const pages = [BOARD_PATH, SIGN_IN_PATH, SIGN_OUT_PATH];
    ctx.state.route = pages.find(path => isAt(ctx, path)) ?? ADMIN_PATH;
    // With `no-referrer`, browsers would send `Origin: null` with our own forms.
    ctx.set("Referrer-Policy", "same-origin");
    requireSameOrigin(ctx, platform.config.publicUrl);
    if (ctx.path === ADMIN_PATH || ctx.path === `${ADMIN_PATH}/`) return seeOther(ctx, BOARD_PATH);
    await serve(ctx, next);
  };
}

/** Without a session the board's page leads to the sign-in page, and anything else of it is 401. */
function requireSession(signIn: SignIn): Middleware {
  return async (ctx, next) => {
    if (!isAt(ctx, BOARD_PATH)) return next();
    if (await signIn.sessionOf(ctx)) return next();
    const isPage = ctx.method === "GET" && !isAt(ctx, `${BOARD_PATH}/api`);
    if (isPage) return seeOther(ctx, SIGN_IN_PATH);
    // No `WWW-Authenticate`: a browser that knows a password for this host would send it to the components here, too.
    ctx.status = 401;
    ctx.body = `Sign in at ${SIGN_IN_PATH}.`;
  };
}

const PATH_CHARS = 200;

/** Writes what the operator changes in the board to the audit log of the installation: which queue, and what of it was asked for. */
function recordChanges(platform: Stores): Middleware {
  return async (ctx, next) => {
    await next();
    if (ctx.method === "GET" || ctx.method === "HEAD" || ctx.status >= 400) return;
    // `queues/deliveries/7/retry`; of all queues, `queues/pause`.
    const [what = "", id = what, ...asked] = ctx.path.slice(`${BOARD_PATH}/api/`.length).split("/");
    await recordOfOperator(platform, {
      action: "queue.changed",
      thing: { id: id.slice(0, PATH_CHARS), name: [id, ...asked].join(" ").slice(0, PATH_CHARS) },
      client: { address: clientAddress(ctx), userAgent: ctx.get("user-agent") },
    });
  };
}

/** Returns how the board lists a job: `runs` jobs, which all have one of two names, also by their source. */
function titleOf({ name, data }: { name: string; data?: { source_id?: unknown } }): string {
  const sourceId = data?.source_id;
  return typeof sourceId === "string" ? `${name} ${sourceId}` : name;
}

/** Opens the board at the first request for it. */
function bullBoard(platform: Queued): Middleware {
  let opened: Middleware | undefined;
  let shown = 0;
  return async (ctx, next) => {
    if (!isAt(ctx, BOARD_PATH)) return next();
    // Their number grows with that of the shards.
    if (!opened || shown < platform.queues.size) opened = openBullBoard(platform);
    shown = platform.queues.size;
    ctx.set("content-security-policy", CSP);
    await opened(ctx, next);
  };
}

function openBullBoard({ queues }: Queued): Middleware {
  const { KoaAdapter } = koa();
  const { BullMQAdapter } = bullMQ();
  const adapter = new KoaAdapter();
  adapter.setBasePath(BOARD_PATH);
  api().createBullBoard({
    queues: [...queues.values()].map(queue => {
      const shown = new BullMQAdapter(queue);
      shown.setFormatter("name", titleOf);
      return shown;
    }),
    serverAdapter: adapter,
    options: {
      uiConfig: { boardTitle: "Headwater", miscLinks: [{ text: "Sign out", url: SIGN_OUT_PATH }] },
    },
  });
  return compose([adapter.registerPlugin() as Middleware]);
}

/**
 * Throws `forbidden` for a change that a page of another origin may have asked for (docs/design.md#browsers). Browsers send
 * `Origin` with every request but GET and HEAD; `Sec-Fetch-Site` only over https and to loopback. So a change must name
 * its origin, and that must be this server's: the host of the request, or `PUBLIC_URL`'s. A cookie with SameSite=Strict
 * does not replace this check, because another port or a sibling domain is the same site.
 */
function requireSameOrigin(ctx: Context, publicUrl: string): void {
  if (ctx.method === "GET" || ctx.method === "HEAD") return;
  const isForeign = !["", "same-origin"].includes(ctx.get("sec-fetch-site"));
  if (hasOwnOrigin(ctx, publicUrl) && !isForeign) return;
  throw new AppError("forbidden", "changes are accepted from the board's own pages only");
}
