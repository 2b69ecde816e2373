import type { Middleware } from "koa";
import { MAIL_OFF_PATH, setAlertMail, userOfMailToken } from "../alerts/send/mailer.ts";
import { TEXT_PAGE_POLICY, textPage } from "../http/html-page.ts";
import { requestState } from "../http/request-log.ts";
import { AppError } from "../lib/errors.ts";
import type { Stores } from "../platform.ts";

const page = (text: string, form = "") =>
  textPage("Mails about alerts", `<h1>Mails about alerts</h1><p>${text}</p>${form}`);

const ASK = page(
  "Turn off the mails about alerts to your address? Your webhooks, sources and their alerts in the dashboard stay as they are.",
  '<form method="post"><button>Turn the mails off</button></form>',
);
const DONE = page("The mails are off. In the dashboard you can turn them on again.");
const UNKNOWN = page("This link is not valid.");

/**
 * Serves the address in mails that turns them off: a page that asks, because mail programs open links, and a POST that does
 * it, which mail programs send by themselves when a person asks them to (RFC 8058). The token in it is good for nothing
 * else, so no session is needed, nor the server's own page.
 */
export function alertMailOff(platform: Stores): Middleware {
  return async (ctx, next) => {
    if (ctx.path !== MAIL_OFF_PATH) return next();
    requestState(ctx).route = MAIL_OFF_PATH;
    ctx.set({
      "Cache-Control": "no-store",
      "Referrer-Policy": "no-referrer",
      "content-security-policy": TEXT_PAGE_POLICY,
    });
    ctx.type = "text/html; charset=utf-8";
    const { token } = ctx.query;
    const userId = typeof token === "string" ? userOfMailToken(platform.config.secretsKeys, token) : null;
    if (userId === null) {
      ctx.status = 404;
      ctx.body = UNKNOWN;
    } else if (ctx.method === "POST") {
      await setAlertMail(platform, userId, "off").catch((error: unknown) => {
        // An account that is gone gets no mails either.
        if (!(error instanceof AppError && error.code === "not-found")) throw error;
      });
      ctx.body = DONE;
    } else if (ctx.method === "GET" || ctx.method === "HEAD") {
      ctx.body = ASK;
    } else {
      ctx.status = 405;
      ctx.set("Allow", "GET, HEAD, POST");
      ctx.body = UNKNOWN;
    }
  };
}
