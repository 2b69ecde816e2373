import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Context, Middleware } from "koa";
import { requestState } from "../http/request-log.ts";
import { notFound } from "../lib/errors.ts";
import type { Stores } from "../platform.ts";

/** The dashboard's own pages; each is the same document, whose script reads the path. */
export const DASHBOARD_PATH = "/dashboard";
const ASSETS_PATH = `${DASHBOARD_PATH}/assets/`;

const TYPES: Record<string, string> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
};
/** In the order of preference. */
const ENCODINGS = [
  ["br", ".br"],
  ["gzip", ".gz"],
] as const;

/** What is built into dist/dashboard by `npm run build` (script/lib/dashboard.mjs). */
interface Built {
  page: Buffer;
  etag: string;
  files: Set<string>;
  /** Files that were asked for, by name: all of them, in both encodings, are some 600 KB. */
  read: Map<string, Buffer>;
}

/** The built one, also for a process that runs from the sources (`npm run dev`). */
const BUILT = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "../../dist/dashboard" : "../../dashboard", import.meta.url),
);

/** Returns null if nothing is built. */
function readBuilt(): Built | null {
  try {
    const page = readFileSync(join(BUILT, "index.html"));
    const etag = `"${createHash("sha256").update(page).digest("base64url").slice(0, 16)}"`;
    return { page, etag, files: new Set(readdirSync(join(BUILT, "assets"))), read: new Map() };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

/**
 * Returns the policy of the dashboard's pages. Scripts come from the hashed files only: `'self'` would allow what
 * components respond below `/in/`, which is the same host without an `INGRESS_URL` (docs/design.md#browsers). The public
 * host is named beside that of the request, which a proxy may have changed. A host in brackets can't be named in a policy,
 * so that there it is `'self'`.
 */
function policyFor(hosts: string[]): string {
  const assets = [...new Set(hosts.map(assetsOf))].join(" ");
  return [
    "default-src 'none'",
    `script-src ${assets}`,
    `style-src ${assets}`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; ");
}

const assetsOf = (host: string): string =>
  /^[a-z0-9.-]+(:\d+)?$/i.test(host) ? `${host}${ASSETS_PATH}` : "'self'";

/**
 * Serves the dashboard below `/dashboard`: its hashed files, which never change, and for every other path the one page,
 * which is asked for again each time. Other paths are passed to the next middleware. Nothing here needs a session: the
 * page has no data, and what it requests below `/v1` is checked there.
 */
export function dashboard(platform: Stores): Middleware {
  let built: Built | null = null;
  return async (ctx, next) => {
    const isOurs = ctx.path === DASHBOARD_PATH || ctx.path.startsWith(`${DASHBOARD_PATH}/`);
    if (!isOurs || (ctx.method !== "GET" && ctx.method !== "HEAD")) return next();
    requestState(ctx).route = ctx.path.startsWith(ASSETS_PATH) ? `${ASSETS_PATH}{file}` : DASHBOARD_PATH;
    built ??= readBuilt();
    if (built === null) throw notFound("dashboard; npm run build makes it");
    if (ctx.path.startsWith(ASSETS_PATH)) return sendAsset(ctx, built, ctx.path.slice(ASSETS_PATH.length));
    sendPage(ctx, built, [ctx.host, new URL(platform.config.publicUrl).host]);
  };
}

function sendPage(ctx: Context, { page, etag }: Built, hosts: string[]): void {
  ctx.set({
    "Content-Security-Policy": policyFor(hosts),
    "Cache-Control": "no-cache",
    // Its addresses name events and sources.
    "Referrer-Policy": "same-origin",
    ETag: etag,
  });
  ctx.status = 200;
  if (ctx.fresh) {
    ctx.status = 304;
    return;
  }
  ctx.type = "text/html; charset=utf-8";
  ctx.body = page;
}

function sendAsset(ctx: Context, built: Built, name: string): void {
  const { files } = built;
  const type = TYPES[name.slice(name.lastIndexOf(".") + 1)];
  // Only a name that was there: nothing of the request becomes a path.
  if (type === undefined || !files.has(name)) throw notFound("file");
  const accepted = ENCODINGS.find(
    ([encoding, end]) => files.has(name + end) && ctx.acceptsEncodings(encoding),
  );
  ctx.set({ "Cache-Control": "public, max-age=31536000, immutable", Vary: "Accept-Encoding" });
  if (accepted) ctx.set("Content-Encoding", accepted[0]);
  ctx.body = readOnce(built, name + (accepted?.[1] ?? ""));
  ctx.type = type;
}

/** Reading takes less than the request; a buffer for each request would be garbage that V8 collects late. */
function readOnce({ read }: Built, name: string): Buffer {
  const content = read.get(name) ?? readFileSync(join(BUILT, "assets", name));
  read.set(name, content);
  return content;
}
