import { createHash } from "node:crypto";
import type { Context, Middleware } from "koa";
import { BuiltFolder, policyFor } from "../http/built-folder.ts";
import { requestState } from "../http/request-log.ts";
import { notFound } from "../lib/errors.ts";
import type { Stores } from "../platform.ts";

/** The dashboard's own pages; each is the same document, whose script reads the path. */
export const DASHBOARD_PATH = "/dashboard";
const ASSETS_PATH = `${DASHBOARD_PATH}/assets/`;
const PAGE = "index.html";

/** What is built into dist/dashboard by `npm run build` (script/lib/dashboard.mjs). */
interface Built {
  folder: BuiltFolder;
  etag: string;
}

/** Returns null if nothing is built. */
function openBuilt(): Built | null {
  const folder = BuiltFolder.open("dashboard");
  if (!folder?.has(PAGE)) return null;
  return {
    folder,
    etag: `"${createHash("sha256").update(folder.read(PAGE)).digest("base64url").slice(0, 16)}"`,
  };
}

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
    const isAsset = ctx.path.startsWith(ASSETS_PATH);
    requestState(ctx).route = isAsset ? `${ASSETS_PATH}{file}` : DASHBOARD_PATH;
    built ??= openBuilt();
    if (built === null) throw notFound("dashboard; npm run build makes it");
    if (!isAsset) return sendPage(ctx, built, [ctx.host, new URL(platform.config.publicUrl).host]);
    const name = `assets/${ctx.path.slice(ASSETS_PATH.length)}`;
    if (!built.folder.has(name)) throw notFound("file");
    built.folder.sendForever(ctx, name);
  };
}

function sendPage(ctx: Context, { folder, etag }: Built, hosts: string[]): void {
  ctx.set({
    "Content-Security-Policy": policyFor(ASSETS_PATH, hosts, {
      "font-src": "'self'",
      "form-action": "'self'",
    }),
    "Cache-Control": "no-cache",
    // Its addresses name events and sources.
    "Referrer-Policy": "same-origin",
    ETag: etag,
  });
  folder.send(ctx, PAGE);
}
