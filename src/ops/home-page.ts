import type { Middleware } from "koa";
import { TEXT_PAGE_POLICY, textPage } from "../http/html-page.ts";
import type { Platform, Stores } from "../platform.ts";
import { DASHBOARD_PATH } from "./dashboard.ts";
import { BOARD_PATH } from "./sign-in.ts";

const PATHS = new Set(["/", "/v1", "/v1/"]);

/** Paths that a newcomer looks for, with what is there. */
function placesOf({ adminPassword }: Platform["config"]): Record<string, [path: string, what: string]> {
  return {
    dashboard: [DASHBOARD_PATH, "the dashboard"],
    documentation: ["/docs", "the documentation"],
    api: ["/docs/api", "every route of the API"],
    openapi: ["/v1/openapi.json", "the same as an OpenAPI document"],
    me: ["/v1/users/me", "your account, with an API key: <code>Authorization: Bearer hw_…</code>"],
    errors: ["/docs/errors", "what each error means"],
    health: ["/readyz", "whether this server is ready"],
    ...(adminPassword !== undefined && {
      board: [BOARD_PATH, "the queues, for the operator"] as [string, string],
    }),
  };
}

/** Says at `/` and `/v1` where to go: a page for people, JSON for programs. */
export function homePage({ config }: Stores): Middleware {
  const places = placesOf(config);
  const items = Object.values(places).map(
    ([path, what]) => `<li><a href="${path}">${path}</a>: ${what}</li>`,
  );
  const html = textPage(
    "Headwater",
    `<h1>Headwater ${config.version}</h1><p>Event sources, subscriptions, webhooks.</p><ul>${items.join("")}</ul>`,
  );
  return (ctx, next) => {
    if (!PATHS.has(ctx.path) || (ctx.method !== "GET" && ctx.method !== "HEAD")) return next();
    ctx.state.route = ctx.path === "/" ? "/" : "/v1";
    ctx.vary("Accept");
    if (ctx.accepts("json", "html") === "html") {
      ctx.set("content-security-policy", TEXT_PAGE_POLICY);
      ctx.type = "text/html; charset=utf-8";
      ctx.body = html;
      return;
    }
    const urls = Object.entries(places).map(([name, [path]]) => [name, config.publicUrl + path] as const);
    ctx.body = { name: "Headwater", version: config.version, ...Object.fromEntries(urls) };
  };
}
