import type { Context, Middleware } from "koa";
import {
  appOf,
  beginConsent,
  CONSENT_PATH,
  ConsentFailed,
  type ConsentProblem,
  finishConsent,
  RETURN_PATH,
} from "../connections/consent/consent.ts";
import { type ConsentRequest, readTicket } from "../connections/consent/ticket.ts";
import { html, TEXT_PAGE_POLICY, textPage } from "../http/html-page.ts";
import { requestState } from "../http/request-log.ts";
import {
  readSessionCookie,
  requireNoForeignPage,
  sessionCookieOf,
  setSessionCookie,
} from "../http/session-cookie.ts";
import { AppError } from "../lib/errors.ts";
import { isId, isToken, newToken } from "../lib/ids.ts";
import { LIMITS } from "../limits/catalogue.ts";
import type { App } from "../models/connection.ts";
import { Organizations } from "../models/organization.ts";
import { Users } from "../models/user.ts";
import type { Outbound, Stores } from "../platform.ts";
import { DASHBOARD_PATH } from "./dashboard.ts";
import { seeOther } from "./sign-in.ts";

/**
 * Serves the pages of a consent (docs/decisions/0038-connections.md): the one that says which account gets what, and sends
 * the browser on to the app, and the one to which the app sends it back. A cookie binds the two, so that a link to the app
 * alone is worth nothing: a person who grants access to a stranger's account has read its owner's name.
 */
export function connectionPages(platform: Stores & Outbound): Middleware {
  return async (ctx, next) => {
    const serve = pageOf(platform, ctx);
    if (serve === null) return next();
    // Tickets, codes and states are in the addresses.
    ctx.set({ "Cache-Control": "no-store", "Referrer-Policy": "no-referrer" });
    try {
      await serve();
    } catch (error) {
      sendProblem(ctx, error);
    }
  };
}

function pageOf(platform: Stores & Outbound, ctx: Context): (() => Promise<void>) | null {
  const { path, method } = ctx;
  if (path === RETURN_PATH && method === "GET") {
    requestState(ctx).route = RETURN_PATH;
    return () => receiveReturn(platform, ctx);
  }
  if (!path.startsWith(`${CONSENT_PATH}/`)) return null;
  requestState(ctx).route = `${CONSENT_PATH}/{ticket}`;
  const ticket = path.slice(CONSENT_PATH.length + 1);
  if (method === "POST") return () => goToApp(platform, ctx, ticket);
  return method === "GET" || method === "HEAD" ? () => showConsent(platform, ctx, ticket) : null;
}

async function showConsent(platform: Stores & Outbound, ctx: Context, ticket: string): Promise<void> {
  const request = isToken(ticket) ? await readTicket(platform, ticket) : null;
  if (request === null) throw new ConsentFailed("expired");
  const app = await appOf(platform, request);
  const text = consentText(app, request, await namesOf(platform, request), ctx.path);
  // Browsers apply the policy to wherever a form's responses send them, and apps use several hosts.
  const { protocol, origin } = new URL(app.authorize_url);
  sendPage(ctx, 200, text, protocol === "https:" ? protocol : origin);
}

async function namesOf({ mongo }: Stores & Outbound, { ownerId, userId }: ConsentRequest) {
  const [user, organization] = await Promise.all([
    Users(mongo).findById(userId, { email: 1 }).lean(),
    ownerId === userId ? null : Organizations(mongo).findById(ownerId, { name: 1 }).lean(),
  ]);
  const asker = user?.email ?? userId;
  return { asker, account: ownerId === userId ? asker : (organization?.name ?? ownerId) };
}

async function goToApp(platform: Stores & Outbound, ctx: Context, ticket: string): Promise<void> {
  const { publicUrl } = platform.config;
  // A link of a foreign page must not agree for the person.
  requireNoForeignPage(ctx, publicUrl);
  const cookie = sessionCookieOf(publicUrl, "consent");
  if (!cookie) throw new AppError("forbidden", "PUBLIC_URL of this server must be https, or this machine");
  if (!isToken(ticket)) throw new ConsentFailed("expired");
  // One for all consents of a browser, so that two at a time don't end each other.
  const known = readSessionCookie(ctx, publicUrl, "consent");
  const browserToken = known !== undefined && isToken(known) ? known : newToken();
  const url = await beginConsent(platform, ticket, browserToken);
  setSessionCookie(ctx, cookie, browserToken, (2 * LIMITS.consentMs.value) / 1000);
  seeOther(ctx, url);
}

/** The dashboard's list with the new connection: an organization's has the organization in its address. */
const connectionsPage = ({ ownerId }: Pick<ConsentRequest, "ownerId">): string =>
  `${DASHBOARD_PATH}/connections${isId("o", ownerId) ? `?org=${ownerId}` : ""}`;

async function receiveReturn(platform: Stores & Outbound, ctx: Context): Promise<void> {
  const browserToken = readSessionCookie(ctx, platform.config.publicUrl, "consent") ?? "";
  const request = await finishConsent(platform, new URLSearchParams(ctx.querystring), browserToken);
  requestState(ctx).ids = { connection_id: request.connectionId };
  sendPage(ctx, 200, connectedText(request, connectionsPage(request)));
}

function sendProblem(ctx: Context, error: unknown): void {
  const { log } = requestState(ctx);
  if (error instanceof ConsentFailed) {
    log.warn({ problem: error.problem, code: error.code }, "a consent led to no connection");
    sendPage(ctx, error.problem === "busy" ? 503 : 400, failedText(error));
  } else if (error instanceof AppError) {
    log.warn({ reason: error.message }, "a page of a consent can't be served");
    sendPage(ctx, error.code === "forbidden" ? 403 : 503, problemText(error.message));
  } else throw error;
}

/** `formTo`: where else its form may lead, as a source of the policy. */
function sendPage(ctx: Context, status: number, text: string, formTo = ""): void {
  const policy = TEXT_PAGE_POLICY.replace("form-action 'self'", `form-action 'self' ${formTo}`.trim());
  ctx.status = status;
  ctx.set("content-security-policy", policy);
  ctx.type = "text/html; charset=utf-8";
  ctx.body = textPage("Headwater: connections", text);
}

interface Names {
  /** The account that gets the connection, as people know it. */
  account: string;
  /** Who asked for it. */
  asker: string;
}

/** The page before a person goes to an app: whose connection it will be, and what it may do. */
function consentText(
  app: App,
  { isReconnect, name }: ConsentRequest,
  { account, asker }: Names,
  path: string,
): string {
  const scopes = app.scopes.split(" ").filter(Boolean);
  const list = scopes.map(scope => `<li><code>${html(scope)}</code></li>`).join("");
  const appName = html(app.name);
  return (
    `<h1>${isReconnect ? "Reconnect" : "Connect"} ${appName}</h1>` +
    `<p><b>${html(asker)}</b> asks for access to your account at <b>${appName}</b>, as the connection ` +
    `<b>${html(name)}</b> of the Headwater account <b>${html(account)}</b>. Everybody who deploys sources there can use it.</p>` +
    (list && `<p>It asks ${appName} for:</p><ul>${list}</ul>`) +
    "<p>If you did not expect this, close the page.</p>" +
    `<form method="post" action="${html(path)}"><p><button>Continue to ${appName}</button></p></form>`
  );
}

/** The page after it. */
const connectedText = ({ isReconnect, name, connectionId }: ConsentRequest, dashboard: string): string =>
  `<h1>${isReconnect ? "Reconnected" : "Connected"}</h1><p>The connection <b>${html(name)}</b> ` +
  `(<code>${html(connectionId)}</code>) works. You can close this page.</p>` +
  `<p><a href="${dashboard}">To the dashboard</a></p>`;

const SENTENCES: Record<ConsentProblem, string> = {
  cancelled: "You did not agree, so nothing was connected.",
  "provider-away": "The app can't be reached right now, or does not respond as it should. Try again later.",
  "provider-error":
    "The app rejected the request. The operator of this server should check how the app is registered.",
  "not-proven": "What the app sent back is not valid, or no longer. Begin again.",
  expired: "This link was used before, or is too old. Begin again where you asked for the connection.",
  "other-browser": "This was begun in another browser. Begin again, and stay in one browser.",
  "no-access": "The person who asked for this connection may no longer use the account.",
  "no-app": "The operator of this server has removed the app.",
  gone: "The connection has been deleted.",
  "limit-reached": "The account has as many connections as its plan allows.",
  busy: "Too many people are connecting right now. Begin again in a minute.",
};

/** The page of a consent that led to no connection. */
function failedText({ problem, code }: Pick<ConsentFailed, "problem" | "code">): string {
  const codeText = code === undefined ? "" : `<p>The app's error code is <code>${html(code)}</code>.</p>`;
  return problemText(SENTENCES[problem]) + codeText;
}

/** The page of a request that can't be served. */
const problemText = (sentence: string): string =>
  `<h1>Not connected</h1><p role="alert">${html(sentence)}</p>`;
