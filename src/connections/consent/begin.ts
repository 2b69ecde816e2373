import { hashOfToken } from "../../accounts/sessions/token.ts";
import { type App, Apps } from "../../models/app.ts";
import type { Platform } from "../../platform.ts";
import { authorizeUrl, newChallenge } from "../oauth/token-client.ts";
import { ConsentFailed } from "./consent-failed.ts";
import { type ConsentRequest, storePending, useTicket } from "./ticket.ts";

/** Where apps send browsers back to; the operator names it to each app. */
export const RETURN_PATH = "/connections/return";

type Deps = Pick<Platform, "mongo" | "redis" | "keys" | "secrets" | "clock" | "config" | "egress">;

/** Returns the app that a consent is for. Throws ConsentFailed. */
export async function appOf(
  { mongo }: Pick<Platform, "mongo">,
  { app }: Pick<ConsentRequest, "app">,
): Promise<App> {
  const found = await Apps(mongo).findById(app).lean<App>();
  if (found === null) throw new ConsentFailed("no-app");
  return found;
}

/**
 * Uses a link up and returns the app's address, to which the browser goes that has `browserToken` in its cookie. Throws
 * ConsentFailed, and `unavailable`.
 */
export async function beginConsent(platform: Deps, ticket: string, browserToken: string): Promise<string> {
  const request = await useTicket(platform, ticket);
  if (request === null) throw new ConsentFailed("expired");
  const app = await appOf(platform, request);
  const challenge = newChallenge();
  await storePending(platform, { request, challenge, browserHash: hashOfToken(browserToken) });
  return await authorizeUrl(platform, app, challenge, platform.config.publicUrl + RETURN_PATH);
}
