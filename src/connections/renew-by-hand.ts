import { AppError } from "../lib/errors.ts";
import { type Connection, Connections } from "../models/connection.ts";
import type { Platform } from "../platform.ts";
import { ConnectionFailed, notWorking } from "./connection-failed.ts";
import { presentConnection } from "./connections.ts";
import { isFresh, mayRenew } from "./look-up.ts";
import { type RenewDeps, renewConnection } from "./renew.ts";
import type { ConnectionView } from "./schema.ts";
import { openSecrets } from "./secrets.ts";

/** A token that is not older is not renewed by hand. */
const PAUSE_MS = 10_000;

/**
 * Renews the token of a connection although it may have time left, and forgets that earlier ones were rejected; one that is
 * a few seconds old stays. Throws `conflict` if only a consent helps, and `unavailable` if the app gives no token now, or gave
 * none a moment ago.
 */
export async function renewByHand(
  platform: RenewDeps & Pick<Platform, "config">,
  connection: Connection,
): Promise<ConnectionView> {
  const { _id, owner_id, kind, health, renewed_at_ms } = connection;
  if (kind !== "oauth2")
    throw new AppError("conflict", "the connection has fields, no token: update its fields");
  if (health === "broken" || openSecrets(platform, connection).refreshToken === undefined) {
    throw new AppError("conflict", "the app gave nothing to renew the token with: reconnect the connection");
  }
  const now = platform.clock();
  const hasJustBeen = renewed_at_ms !== null && now < renewed_at_ms + PAUSE_MS && isFresh(connection, now);
  if (hasJustBeen) return presentConnection(platform, connection);
  if (!mayRenew(connection, now)) throw notRenewed(notWorking(connection).message);
  const renewed = await renewConnection(platform, connection, { isForced: true }).catch((error: unknown) => {
    throw error instanceof ConnectionFailed ? notRenewed(error.message, error) : error;
  });
  if (renewed.version === connection.version) {
    throw notRenewed(`the token was not renewed: ${renewed.fault?.message ?? "the app is away"}`);
  }
  await Connections(platform.mongo).updateOne(
    { _id, version: renewed.version },
    { $set: { rejection: null } },
  );
  await platform.routing.invalidate([owner_id]);
  return presentConnection(platform, renewed);
}

const notRenewed = (message: string, cause?: unknown) =>
  new AppError("unavailable", message, { cause, retryAfterMs: PAUSE_MS });
