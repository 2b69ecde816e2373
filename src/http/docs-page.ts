import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { gzipSync } from "node:zlib";
import type { Context, Middleware } from "koa";
import { PROBLEMS } from "./problem.ts";
import { requestState } from "./request-log.ts";

interface Asset {
  type: string;
  body: Buffer;
  gzip: Buffer;
  etag: string;
}

/**
 * Scripts come from here only, none inline. The viewer sets styles in its templates, so inline styles must pass;
 * without a script of somebody else's they can do no harm.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

const head = (title: string) =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title>` +
  '<meta name="viewport" content="width=device-width, initial-scale=1">';

// Paths are relative to /docs, so that the page also works behind a proxy that adds a prefix.
const page = (openapiUrl: string) =>
  `${head("Headwater API")}<script type="module" src="docs/viewer.js"></script>` +
  "<style>body{margin:0}openapi-explorer{height:100vh}</style></head>" +
  `<body><openapi-explorer spec-url="${openapiUrl.slice(1)}" collapse="true"></openapi-explorer></body></html>`;

function errorsPage(): string {
  const items = Object.entries(PROBLEMS).map(
    ([code, { status, title, meaning }]) =>
      `<h2 id="${code}">${status} ${title}</h2><p>${meaning.replaceAll(/`([^`]+)`/g, "<code>$1</code>")}</p>`,
  );
  return (
    `${head("Headwater API: errors")}<style>body{font:16px/1.5 sans-serif;max-width:44em;margin:2em auto}</style>` +
    `</head><body><h1>Errors</h1><p>What the <code>type</code> of a problem means.</p>${items.join("")}</body></html>`
  );
}

function asset(type: string, content: string | Buffer): Asset {
  const body = Buffer.from(content);
  const etag = `"${createHash("sha256").update(body).digest("base64url").slice(0, 16)}"`;
  return { type, body, gzip: gzipSync(body), etag };
}

function send(ctx: Context, { type, body, gzip, etag }: Asset): void {
  ctx.set({
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-cache",
    Vary: "Accept-Encoding",
    ETag: etag,
  });
  ctx.status = 200;
  if (ctx.fresh) {
    ctx.status = 304;
    return;
  }
  ctx.type = type;
  const isGzip = ctx.acceptsEncodings("gzip", "identity") === "gzip";
  if (isGzip) ctx.set("Content-Encoding", "gzip");
  ctx.body = isGzip ? gzip : body;
}

/**
 * Serves `/docs`, which renders the document at `openapiUrl` (a path from the root), with every asset from here: an
 * installation may have no way out to the internet. `/docs/errors` explains the `type`s of problems. Other paths go on
 * to the next middleware.
 */
export function docsPage({ openapiUrl }: { openapiUrl: string }): Middleware {
  const viewer = createRequire(import.meta.url).resolve(
    "openapi-explorer/dist/browser/openapi-explorer.min.js",
  );
  const assets = new Map<string, () => Asset>([
    ["/docs", () => asset("text/html; charset=utf-8", page(openapiUrl))],
    ["/docs/viewer.js", () => asset("text/javascript; charset=utf-8", readFileSync(viewer))],
    ["/docs/errors", () => asset("text/html; charset=utf-8", errorsPage())],
  ]);
  const made = new Map<string, Asset>();
  return async (ctx, next) => {
    const make = assets.get(ctx.path);
    if (ctx.path === "/docs/") return ctx.redirect("../docs");
    if (!make || (ctx.method !== "GET" && ctx.method !== "HEAD")) return next();
    requestState(ctx).route = ctx.path;
    // Read and packed at first use: most processes never show the page.
    const ready = made.get(ctx.path) ?? make();
    made.set(ctx.path, ready);
    send(ctx, ready);
  };
}
