import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { gzipSync } from "node:zlib";
import type { Context, Middleware } from "koa";
import { PALETTE, pageHead, pageTop } from "./html-page.ts";
import { requestState } from "./request-log.ts";

interface Asset {
  type: string;
  body: Buffer;
  gzip: Buffer;
  etag: string;
}

/**
 * Allows scripts from this origin only, and no inline ones. The viewer's templates set inline styles, so those must be
 * allowed; without a foreign script they are harmless.
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

const PATH = "/docs/api";
// Paths are relative to /docs/api, so that the page also works behind a proxy that adds a path prefix.
const LINKS: [string, string][] = [
  ["../dashboard", "Dashboard"],
  ["../docs", "Documentation"],
  ["api", "API"],
];
const MENU = '<button id="menu" type="button" aria-expanded="false">Menu</button>';

const page = (openapiUrl: string) =>
  `${pageHead("Headwater API")}<script src="api/page.js" defer></script>` +
  `<script type="module" src="api/viewer.js"></script><style>${DOCS_STYLE}</style></head>` +
  `<body class="docs">${pageTop(LINKS, "API", MENU)}` +
  `<openapi-explorer spec-url="..${openapiUrl}" collapse="true"></openapi-explorer></body></html>`;

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
 * Serves `/docs/api`, a page that renders the OpenAPI document at `openapiUrl` (an absolute path). All assets are served from here,
 * because a server may have no access to the internet. Other paths are passed to the next middleware.
 */
export function apiPage({ openapiUrl }: { openapiUrl: string }): Middleware {
  const viewer = createRequire(import.meta.url).resolve(
    "openapi-explorer/dist/browser/openapi-explorer.min.js",
  );
  const builders = new Map<string, () => Asset>([
    [PATH, () => asset("text/html; charset=utf-8", page(openapiUrl))],
    [`${PATH}/viewer.js`, () => asset("text/javascript; charset=utf-8", readFileSync(viewer))],
    [`${PATH}/page.js`, () => asset("text/javascript; charset=utf-8", DOCS_SCRIPT)],
  ]);
  const assets = new Map<string, Asset>();
  return async (ctx, next) => {
    const build = builders.get(ctx.path);
    if (!build || (ctx.method !== "GET" && ctx.method !== "HEAD")) return next();
    requestState(ctx).route = ctx.path;
    // Read and compressed at first use, because most processes never serve the page.
    const cached = assets.get(ctx.path) ?? build();
    assets.set(ctx.path, cached);
    send(ctx, cached);
  };
}

const FONTS =
  '--font-regular:"Inter",ui-sans-serif,system-ui,sans-serif;--font-mono:ui-monospace,Menlo,monospace';

/**
 * How the viewer of the API is laid out. It shows no navigation of its own on narrow screens; there the button "Menu" shows it over
 * the text.
 */
const DOCS_STYLE =
  "body.docs{height:100vh;display:flex;flex-direction:column}" +
  `openapi-explorer{flex:1;min-height:0;--font-size-small:14px;--font-size-mono:13px;--font-size-regular:15px;${FONTS}}` +
  "#menu{display:none;margin-left:auto;font:inherit;color:var(--text);background:var(--surface);border:1px solid var(--line);border-radius:6px;padding:.35rem .8rem}" +
  "@media(max-width:767.98px){#menu{display:block}.top{gap:.9rem}.top .brand{font-size:0;gap:0}" +
  "body[data-menu] openapi-explorer::part(section-navbar){display:flex;position:fixed;inset:3.4rem 0 0;width:auto;height:auto;z-index:2}}";

/** Colours that the viewer takes as attributes, by the names of the palette. */
const ATTRIBUTES = {
  "bg-color": "bg",
  "text-color": "text",
  "primary-color": "accent",
  "secondary-color": "accent",
  "nav-bg-color": "surface",
  "nav-text-color": "text-2",
  "nav-hover-bg-color": "hover",
  "nav-hover-text-color": "text",
} as const;
const VALUES = Object.fromEntries(
  Object.entries(ATTRIBUTES).map(([attribute, name]) => [attribute, PALETTE[name]]),
);

/** Follows the colours that were chosen in the dashboard, else those of the system, and opens and closes the menu. */
const DOCS_SCRIPT = `"use strict";
const viewer = document.querySelector("openapi-explorer");
// On a narrow screen the viewer would draw itself again, without navigation.
viewer.handleResize = () => {};
const chosen = localStorage.getItem("headwater-theme");
const system = matchMedia("(prefers-color-scheme: dark)");
const colours = ${JSON.stringify(VALUES)};
const paint = () => {
  const isDark = chosen === "dark" || (chosen !== "light" && system.matches);
  document.documentElement.dataset.theme = isDark ? "dark" : "light";
  for (const [name, values] of Object.entries(colours)) viewer.setAttribute(name, values[isDark ? 1 : 0]);
};
paint();
system.addEventListener("change", paint);
const menu = document.getElementById("menu");
const show = isShown => {
  document.body.toggleAttribute("data-menu", isShown);
  menu.setAttribute("aria-expanded", String(isShown));
};
menu.addEventListener("click", () => show(!document.body.hasAttribute("data-menu")));
addEventListener("keydown", event => event.key === "Escape" && show(false));
viewer.addEventListener("click", event => {
  const isPlace = event.composedPath().some(one => /nav-bar-(path|info|components|h1|h2)/.test(one.className || ""));
  if (isPlace) show(false);
});
`;
