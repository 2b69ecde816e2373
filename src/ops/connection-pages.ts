import type { Context, Middleware } from "koa";
import { appOf, beginConsent, CONSENT_PATH, RETURN_PATH } from "../connections/consent/begin.ts";
import { ConsentFailed } from "../connections/consent/consent-failed.ts";
import { finishConsent } from "../connections/consent/finish.ts";
import { type ConsentRequest, readTicket } from "../connections/consent/ticket.ts";
import { TEXT_PAGE_POLICY, textPage } from "../http/html-page.ts";
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
import { Organizations } from "../models/organization.ts";
import { Users } from "../models/user.ts";
import type { Platform } from "../platform.ts";
import { connectedText, consentText, failedText, problemText } from "./consent-texts.ts";
import { DASHBOARD_PATH } from "./dashboard.ts";
import { seeOther } from "./sign-in.ts";

type Deps = Pick<
  Platform,
  "config" | "mongo" | "redis" | "keys" | "secrets" | "clock" | "routing" | "egress"
>;

/**
 * Serves the pages of a consent (docs/decisions/0038-connections.md): the one that says which account gets what, and sends
 * the browser on to the app, and the one to which the app sends it back. A cookie binds the two, so that a link to the app
 * alone is worth nothing: a person who grants access to a stranger's account has read its owner's name.
 */
export function connectionPages(platform: Deps): Middleware {
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

function pageOf(platform: Deps, ctx: Context): (() => Promise<void>) | null {
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

async function showConsent(platform: Deps, ctx: Context, ticket: string): Promise<void> {
  const request = isToken(ticket) ? await readTicket(platform, ticket) : null;
  if (request === null) throw new ConsentFailed("expired");
  const app = await appOf(platform, request);
  const text = consentText(app, request, await namesOf(platform, request), ctx.path);
  // Browsers apply the policy to wherever a form's responses send them, and apps use several hosts.
  const { protocol, origin } = new URL(app.authorize_url);
  sendPage(ctx, 200, text, protocol === "https:" ? protocol : origin);
}

async function namesOf({ mongo }: Deps, { ownerId, userId }: ConsentRequest) {
  const [user, organization] = await Promise.all([
    Users(mongo).findById(userId, { email: 1 }).lean(),
    ownerId === userId ? null : Organizations(mongo).findById(ownerId, { name: 1 }).lean(),
  ]);
  const asker = user?.email ?? userId;
  return { asker, account: ownerId === userId ? asker : (organization?.name ?? ownerId) };
}

async function goToApp(platform: Deps, ctx: Context, ticket: string): Promise<void> {
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

async function receiveReturn(platform: Deps, ctx: Context): Promise<void> {
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
