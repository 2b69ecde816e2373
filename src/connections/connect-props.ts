import type { PrivateAddress } from "../egress/private-addresses.ts";
import type { Calling } from "../platform.ts";
import { connectedProps, type StoredProps } from "../props/configure.ts";
import type { CallError, DescribedProp } from "../sandbox/protocol.ts";
import { callErrorOf, connectionGone, isFresh, lookUpConnection, mayRenew, notWorking } from "./look-up.ts";
import type { UsedToken } from "./note-use.ts";
import { openedTo } from "./private-addresses.ts";
import { renewConnection } from "./renew.ts";
import { openSecrets } from "./secrets.ts";

/** Values with credentials. */
export interface Connected {
  values: StoredProps;
  /** The tokens among the credentials; `noteUse` is called with them after the call. */
  tokens: UsedToken[];
  /** What the operator has opened to code with these connections. */
  opened: PrivateAddress[];
}

/**
 * Returns a source's values with the credentials of the connections that they name, as `$auth`, each renewed if it is about
 * to end (docs/connections.md). Without a connection it costs nothing; with one that is fresh, a look-up in the routing
 * cache, which the caller has refreshed. Throws ConnectionFailed, the reason of `signal`, and what a store throws.
 */
export async function connectProps(
  platform: Calling,
  ownerId: string,
  { props, values }: { props: DescribedProp[]; values: StoredProps },
  signal?: AbortSignal,
): Promise<Connected> {
  const connected = connectedProps(props, values);
  if (connected.length === 0) return { values, tokens: [], opened: [] };
  const found = await Promise.all(
    connected.map(async ({ prop, connectionId }) => {
      const { $auth, ...used } = await authOf(platform, ownerId, connectionId, signal);
      return { pair: [prop.name, { $auth }] as const, ...used };
    }),
  );
  return {
    values: { ...values, ...Object.fromEntries(found.map(({ pair }) => pair)) },
    tokens: found.flatMap(({ tokens }) => tokens),
    opened: found.flatMap(({ opened }) => opened),
  };
}

/**
 * As `connectProps`, for a call that begins with no look-up in the routing cache. Returns the error of the call if a connection
 * gives no credentials.
 */
export async function tryConnectProps(
  platform: Calling,
  ownerId: string,
  described: { props: DescribedProp[]; values: StoredProps },
): Promise<Connected | { error: CallError }> {
  await platform.routing.refresh();
  try {
    return await connectProps(platform, ownerId, described);
  } catch (error) {
    return { error: callErrorOf(error) };
  }
}

async function authOf(
  platform: Calling,
  ownerId: string,
  id: string,
  signal: AbortSignal | undefined,
): Promise<{ $auth: Record<string, string> } & Pick<Connected, "tokens" | "opened">> {
  const known = await lookUpConnection(platform, id);
  if (known?.owner_id !== ownerId) throw connectionGone(id);
  const now = platform.clock();
  const isKnownToFail = !isFresh(known, now) && !mayRenew(known, now);
  if (isKnownToFail) throw notWorking(known);
  const connection = isFresh(known, now) ? known : await renewConnection(platform, known, { signal });
  const { fields, accessToken } = openSecrets(platform, connection);
  const opened = openedTo(known);
  if (accessToken === undefined) return { $auth: fields, tokens: [], opened };
  const { version, rejection } = connection;
  return {
    $auth: { ...fields, oauth_access_token: accessToken },
    tokens: [{ connectionId: id, version, rejectedBy: rejection?.by ?? null }],
    opened,
  };
}
