import { withDeadline } from "../../lib/deadline.ts";
import type { Logger } from "../../lib/logger.ts";
import { OpenIdError } from "../../openid/openid-error.ts";
import type { Platform } from "../../platform.ts";
import { endSession } from "../sessions/end.ts";
import { findLiveSession } from "../sessions/find-callers.ts";

/** Where the provider sends browsers after they signed out there; the operator names it to the provider. */
export const SIGNED_OUT_PATH = "/dashboard/sign-in";
/** A provider that is away delays no sign-out for longer. */
const PROVIDER_MS = 3000;

/**
 * Ends a session, and returns the provider's address at which the browser signs out there too: null if no provider vouched
 * for the session, or if the provider has no such address or is away.
 */
export async function signOut(
  platform: Pick<Platform, "mongo" | "routing" | "openid" | "config" | "clock">,
  sessionId: string,
  log: Logger,
): Promise<string | null> {
  const { openid, config } = platform;
  const session = await findLiveSession(platform, sessionId);
  if (session) await endSession(platform, session);
  if (!openid || session?.key_id !== null) return null;
  try {
    return await withDeadline(
      openid.signOutUrl(config.publicUrl + SIGNED_OUT_PATH),
      PROVIDER_MS,
      () => new OpenIdError("provider-away", "it did not respond in time"),
    );
  } catch (error) {
    if (!(error instanceof OpenIdError)) throw error;
    log.warn({ reason: error.message }, "the OpenID provider has no address to sign out at");
    return null;
  }
}
