import type { Connection, ConnectionSecrets } from "../models/connection.ts";
import type { Platform } from "../platform.ts";
import { renewFromMs } from "./freshness.ts";
import type { Tokens } from "./oauth/token-client.ts";

type Deps = Pick<Platform, "secrets" | "clock">;

/** Decrypts what a connection keeps secret. */
export const openSecrets = (
  { secrets }: Pick<Deps, "secrets">,
  connection: Pick<Connection, "secrets">,
): ConnectionSecrets => JSON.parse(secrets.open(connection.secrets));

/** Returns the fields of a connection of kind `keys` with these values, encrypted. */
export function keysFields({ secrets }: Deps, fields: Record<string, string>) {
  const kept: ConnectionSecrets = { fields };
  return { secrets: secrets.seal(JSON.stringify(kept)), field_names: Object.keys(fields), ...WORKING };
}

const WORKING = {
  health: "working",
  fault: null,
  renewal_began_at_ms: null,
  retry_at_ms: null,
} as const satisfies Partial<Connection>;

/**
 * Returns the fields of a connection that received these tokens now, encrypted. `earlier` is what it had before: an app that
 * sends no new refresh token goes on taking the old one (RFC 6749, section 6).
 */
export function tokenFields({ secrets, clock }: Deps, tokens: Tokens, earlier?: ConnectionSecrets) {
  const now = clock();
  const refreshToken = tokens.refreshToken ?? earlier?.refreshToken;
  const fields = { ...earlier?.fields, ...tokens.others };
  const kept: ConnectionSecrets = {
    fields,
    accessToken: tokens.accessToken,
    ...(refreshToken !== undefined && { refreshToken }),
  };
  const livesMs = tokens.expiresInS === undefined ? null : tokens.expiresInS * 1000;
  return {
    secrets: secrets.seal(JSON.stringify(kept)),
    field_names: ["oauth_access_token", ...Object.keys(fields)],
    ...(tokens.scope !== undefined && { scope: tokens.scope }),
    expires_at_ms: livesMs === null ? null : now + livesMs,
    renew_from_ms: livesMs === null ? null : renewFromMs(now, livesMs, refreshToken !== undefined),
    renewed_at_ms: now,
    ...WORKING,
  };
}
