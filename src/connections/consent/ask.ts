import { checkCount } from "../../accounts/check-count.ts";
import { AppError, invalidField } from "../../lib/errors.ts";
import { newId } from "../../lib/ids.ts";
import { unixSeconds } from "../../lib/unix-seconds.ts";
import { type App, Apps } from "../../models/app.ts";
import type { Connection } from "../../models/connection.ts";
import type { Platform } from "../../platform.ts";
import type { ConsentView } from "../schema.ts";
import { type ConsentRequest, createTicket } from "./ticket.ts";

/** Below it are the pages on which a person agrees to a connection; the last part of their path is a ticket. */
export const CONSENT_PATH = "/connections/consent";

type Deps = Pick<Platform, "mongo" | "redis" | "keys" | "secrets" | "clock" | "routing" | "config">;

/**
 * Asks for a new connection: returns the address of the page on which a person agrees to it, and the id that it will have.
 * Nothing is stored of it before. Throws `invalid` for an app that is not registered, `limit-reached`, `rate-limited`,
 * `conflict` and `unavailable`.
 */
export async function askForConnection(
  platform: Deps,
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
  platform: Deps,
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

async function ask(platform: Deps, request: ConsentRequest): Promise<ConsentView> {
  const { token, expiresAtMs } = await createTicket(platform, request);
  return {
    connection_id: request.connectionId,
    url: `${platform.config.publicUrl}${CONSENT_PATH}/${token}`,
    expires_at: unixSeconds(expiresAtMs),
  };
}
