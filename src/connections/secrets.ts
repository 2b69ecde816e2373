import { LIMITS } from "../limits/catalogue.ts";
import type { Connection, ConnectionSecrets } from "../models/connection.ts";
import type { Stores } from "../platform.ts";
import { renewFromMs } from "./look-up.ts";
import type { Tokens } from "./oauth/token-client.ts";

/** Decrypts what a connection keeps secret. */
export const openSecrets = (
  { secrets }: Stores,
  connection: Pick<Connection, "secrets">,
): ConnectionSecrets => JSON.parse(secrets.open(connection.secrets));

/** Returns the fields of a connection of kind `keys` with these values, encrypted. */
export function keysFields({ secrets }: Stores, fields: Record<string, string>) {
  const kept: ConnectionSecrets = { fields };
  return { secrets: secrets.seal(JSON.stringify(kept)), field_names: Object.keys(fields), ...WORKING };
}

const WORKING = {
  health: "working",
  fault: null,
  renewal_began_at_ms: null,
  retry_at_ms: null,
} as const satisfies Partial<Connection>;

/** An app that names a later end of a token means that it has none. */
const LONGEST_LIFE_MS = 10 * 365 * 86_400_000;
const MAX_FIELDS = LIMITS.connectionFields.value;

/**
 * Returns the fields of a connection that received these tokens now, encrypted. `earlier` is what it had before: an app that
 * sends no new refresh token goes on taking the old one (RFC 6749, section 6).
 */
export function tokenFields({ secrets, clock }: Stores, tokens: Tokens, earlier?: ConnectionSecrets) {
  const now = clock();
  const refreshToken = tokens.refreshToken ?? earlier?.refreshToken;
  const fields = withinLimit({ ...earlier?.fields, ...tokens.others }, tokens.others);
  const kept: ConnectionSecrets = {
    fields,
    accessToken: tokens.accessToken,
    ...(refreshToken !== undefined && { refreshToken }),
  };
  const livesMs =
    tokens.expiresInS === undefined ? null : Math.min(tokens.expiresInS * 1000, LONGEST_LIFE_MS);
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

/** Leaves out earlier fields if there are too many: otherwise an app could add some with each renewal. */
function withinLimit(fields: Record<string, string>, latest: Record<string, string>): Record<string, string> {
  const earlier = Object.keys(fields).filter(name => !Object.hasOwn(latest, name));
  const kept = [...Object.keys(latest), ...earlier].slice(0, MAX_FIELDS);
  return Object.fromEntries(kept.map(name => [name, fields[name] ?? ""]));
}
