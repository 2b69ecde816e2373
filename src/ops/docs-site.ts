import type { Context, Middleware } from "koa";
import { BuiltFolder, policyFor } from "../http/built-folder.ts";
import { requestState } from "../http/request-log.ts";
import { notFound } from "../lib/errors.ts";
import type { Stores } from "../platform.ts";

const SITE_PATH = "/docs";
const ASSETS_PATH = `${SITE_PATH}/assets/`;
/** The site's index for programs that read. */
const LLMS_PATH = "/llms.txt";

/** A page, or a text beside it: its file in the folder of the site. */
interface Page {
  file: string;
  etag: string;
}

/** What is built into dist/docs by `npm run build` (script/lib/site.mjs). */
interface Site {
  folder: BuiltFolder;
  pages: Map<string, Page>;
}

/** Returns null if nothing is built. */
function openSite(): Site | null {
  const folder = BuiltFolder.open("docs");
  if (!folder?.has("site.json")) return null;
  const pages = JSON.parse(folder.read("site.json").toString()) as Record<string, Page>;
  return { folder, pages: new Map(Object.entries(pages)) };
}

/**
 * Serves the documentation of this release below `/docs`: pages, each also as Markdown, and the list of them at `/llms.txt`. Other
 * paths are passed to the next middleware.
 */
export function docsSite(platform: Stores): Middleware {
  let site: Site | null = null;
  return async (ctx, next) => {
    const isOurs = ctx.path === SITE_PATH || ctx.path.startsWith(`${SITE_PATH}/`) || ctx.path === LLMS_PATH;
    if (!isOurs || (ctx.method !== "GET" && ctx.method !== "HEAD")) return next();
    // What a page links to is relative to its address.
    if (ctx.path === `${SITE_PATH}/`) return ctx.redirect("../docs");
    const isAsset = ctx.path.startsWith(ASSETS_PATH);
    requestState(ctx).route = isAsset ? `${ASSETS_PATH}{file}` : `${SITE_PATH}/{page}`;
    site ??= openSite();
    if (site === null) throw notFound("documentation; npm run build makes it");
    if (!isAsset) return sendPage(ctx, site, [ctx.host, new URL(platform.config.publicUrl).host]);
    const name = `assets/${ctx.path.slice(ASSETS_PATH.length)}`;
    if (!site.folder.has(name)) throw notFound("file");
    site.folder.sendForever(ctx, name);
  };
}

function sendPage(ctx: Context, { folder, pages }: Site, hosts: string[]): void {
  const page = pages.get(ctx.path);
  if (page === undefined) throw notFound(`page of the documentation; ${SITE_PATH} lists them`);
  ctx.set({
    "Content-Security-Policy": policyFor(ASSETS_PATH, hosts, {}),
    "Cache-Control": "no-cache",
    ETag: page.etag,
  });
  folder.send(ctx, page.file);
}
