import { checkCount } from "../../accounts/limits.ts";
import { hashOfToken } from "../../accounts/sessions/sessions.ts";
import { AppError, invalidField } from "../../lib/errors.ts";
import { newId } from "../../lib/ids.ts";
import { unixSeconds } from "../../lib/time.ts";
import { type App, Apps } from "../../models/app.ts";
import type { Connection } from "../../models/connection.ts";
import type { Platform } from "../../platform.ts";
import { authorizeUrl, newChallenge } from "../oauth/token-client.ts";
import type { ConsentView } from "../schema.ts";
import { ConsentFailed } from "./consent-failed.ts";
import { type ConsentRequest, createTicket, storePending, useTicket } from "./ticket.ts";

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

/** Below it are the pages on which a person agrees to a connection; the last part of their path is a ticket. */
export const CONSENT_PATH = "/connections/consent";

type AskDeps = Pick<Platform, "mongo" | "redis" | "keys" | "secrets" | "clock" | "routing" | "config">;

/**
 * Asks for a new connection: returns the address of the page on which a person agrees to it, and the id that it will have.
 * Nothing is stored of it before. Throws `invalid` for an app that is not registered, `limit-reached`, `rate-limited`,
 * `conflict` and `unavailable`.
 */
export async function askForConnection(
  platform: AskDeps,
  { ownerId, userId, app, name }: Pick<ConsentRequest, "ownerId" | "userId" | "app"> & { name?: string },
): Promise<ConsentView> {
  await checkCount(platform, ownerId, "connections");
  const registered = await Apps(platform.mongo).findById(app).lean<App>();
  if (registered === null) {
    throw invalidField(
      "body",
      "app",
      "the operator has registered no such app: docs/connections.md says how",
    );
  }
  const connectionId = newId("apn", platform.clock());
  return await ask(platform, {
    ...{ connectionId, ownerId, userId, app, isReconnect: false },
    name: name ?? registered.name,
  });
}

/** As `askForConnection`, for new tokens of one that exists. Throws `conflict` for one that needs no consent. */
export async function askToReconnect(
  platform: AskDeps,
  connection: Connection,
  userId: string,
): Promise<ConsentView> {
  const { _id: connectionId, owner_id: ownerId, app, name, kind } = connection;
  if (kind !== "oauth2") {
    throw new AppError("conflict", "the connection has fields, not a consent: update its fields");
  }
  if (!(await Apps(platform.mongo).exists({ _id: app }))) {
    throw new AppError("conflict", `the operator has removed the app ${app}`);
  }
  return await ask(platform, { connectionId, ownerId, userId, app, name, isReconnect: true });
}

async function ask(platform: AskDeps, request: ConsentRequest): Promise<ConsentView> {
  const { token, expiresAtMs } = await createTicket(platform, request);
  return {
    connection_id: request.connectionId,
    url: `${platform.config.publicUrl}${CONSENT_PATH}/${token}`,
    expires_at: unixSeconds(expiresAtMs),
  };
}
