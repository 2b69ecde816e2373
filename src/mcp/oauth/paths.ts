import { sessionCookieOf } from "../../http/session-cookie.ts";
import type { Stores } from "../../platform.ts";

/** Where agents' hosts are authorized, on the host of `PUBLIC_URL`. */
export const PATHS = {
  authorize: "/oauth/authorize",
  token: "/oauth/token",
  register: "/oauth/register",
  revoke: "/oauth/revoke",
  server: "/.well-known/oauth-authorization-server",
  resource: "/.well-known/oauth-protected-resource",
} as const;

/** The page of the dashboard on which a user lets an agent's host in; the id of the request is in its query. */
export const CONSENT_PAGE = "/dashboard/connect";

/** What agents' hosts ask for; what they may do is the user's choice. */
export const SCOPE = "mcp";

/**
 * Returns true if agents' hosts can be authorized here: agents are served, browsers can sign in (https, or this machine), and the server has
 * a host of its own, as the addresses of the metadata are below its root.
 */
export const offersOAuth = ({ config: { mcp, publicUrl } }: Pick<Stores, "config">): boolean =>
  mcp !== "off" && sessionCookieOf(publicUrl) !== null && new URL(publicUrl).pathname === "/";

/** What `WWW-Authenticate` says beside the scheme, for a host that knows nothing of this server yet (RFC 9728). */
export const challengeOf = ({ config }: Pick<Stores, "config">): string =>
  `resource_metadata="${config.publicUrl}${PATHS.resource}/mcp", scope="${SCOPE}"`;
