import type { ClientSession } from "mongoose";
import { raiseAlert } from "../alerts/raise.ts";
import { type Connection, type ConnectionFault, Connections, type Rejection } from "../models/connection.ts";
import type { Observed, Stores } from "../platform.ts";
import type { CallResult } from "../sandbox/protocol.ts";
import { isRejected, lookUpConnection } from "./look-up.ts";
import { openSecrets } from "./secrets.ts";

/** A token with which code was called. */
export interface UsedToken {
  connectionId: string;
  /** The connection's `version`. */
  version: number;
  /** What failed when a token was rejected last. */
  rejectedBy: string | null;
}

export interface Use {
  tokens: readonly UsedToken[];
  /** What used them: id of a source or an action, or which code was asked. */
  by: string;
}

/** Between two renewals of rejected tokens; it doubles with each that is rejected again, as long as what failed never succeeds. */
const PAUSE_MS = 5 * 60_000;
const LONGEST_PAUSE_MS = 86_400_000;

/** The fault of a connection whose token was rejected before its end. */
const REJECTED = "token-rejected";

/**
 * Notes what a call shows about the tokens with which it was made (docs/connections.md#renewal). If it failed with HTTP 401,
 * they count as ended from now on, so that they are renewed before the next call; a look-up in the routing cache finds that.
 * A call without a connection costs nothing, and a good one nothing but after a rejection. Never throws: a call that is over
 * must not fail because of this.
 */
export async function noteUse(
  platform: Stores,
  { tokens, by }: Use,
  { error, unauthorized }: Pick<CallResult, "error" | "unauthorized">,
): Promise<void> {
  const noted = tokens.filter(({ rejectedBy }) => unauthorized || (!error && rejectedBy === by));
  if (noted.length === 0) return;
  try {
    // The token may have been renewed for this very call.
    await platform.routing.refresh();
    const owners = await Promise.all(
      noted.map(async token => {
        const connection = await lookUpConnection(platform, token.connectionId);
        if (connection?.version !== token.version) return [];
        if (isRejected(connection)) return [];
        const change = unauthorized ? rejectedNow(platform, connection, by) : worksAgain(connection);
        if (change === null) return [];
        const { _id, version, owner_id } = connection;
        const { modifiedCount } = await Connections(platform.mongo).updateOne(
          { _id, version, "rejection.version": { $ne: version } },
          { $set: change },
        );
        return modifiedCount > 0 ? [owner_id] : [];
      }),
    );
    if (owners.flat().length === 0) return;
    await platform.routing.invalidate(owners.flat());
    await platform.routing.refresh();
  } catch (err) {
    platform.log.warn({ by, err }, "what a call shows about a token was not noted");
  }
}

type Change = Partial<Pick<Connection, "rejection" | "fault">>;

/** Returns what changes when the present token is rejected; null if that was noted before. */
function rejectedNow(platform: Stores, connection: Connection, by: string): Change | null {
  const { _id, owner_id, app, fault, health, rejection = null, version } = connection;
  if (health === "broken") return null;
  const now = platform.clock();
  const waitUntil = rejection === null ? 0 : rejection.at_ms + pauseMs(rejection);
  const isRenewable = openSecrets(platform, connection).refreshToken !== undefined;
  const isRenewed = isRenewable && now >= waitUntil;
  if (!isRenewed && fault?.code === REJECTED) return null;
  platform.log.warn(
    { connection_id: _id, owner_id, app, by, is_renewed: isRenewed },
    "token rejected by its app",
  );
  const what = `the app rejected its token (HTTP 401) when ${by} used it`;
  if (!isRenewable) {
    const message = `${what}, and gave none to renew it with; reconnect it if this goes on`;
    return { fault: faultOf(message, now), rejection: { version: 0, by, at_ms: now, times: 0 } };
  }
  if (!isRenewed) {
    const until = new Date(waitUntil).toISOString();
    const message = `${what}, although it is new: it may need other rights. It is not renewed for that before ${until}`;
    return { fault: faultOf(message, now) };
  }
  const times = (rejection?.times ?? 0) + 1;
  return {
    fault: faultOf(`${what}; it is renewed before the next run`, now),
    rejection: { version, by, at_ms: now, times },
  };
}

const faultOf = (message: string, at_ms: number): ConnectionFault => ({ code: REJECTED, message, at_ms });

const pauseMs = ({ times }: Rejection): number =>
  times === 0 ? 0 : Math.min(PAUSE_MS * 2 ** (times - 1), LONGEST_PAUSE_MS);

/** Returns what changes when that which had failed succeeds. */
function worksAgain({ fault }: Connection): Change {
  return { rejection: null, ...(fault?.code === REJECTED && { fault: null }) };
}

/**
 * Raises the alert `connection.broken` for a connection that has stopped working, together with what `session` stores of it.
 * It is raised once, until the connection works again. `fault` has no secret and nothing that the app sent but its error code.
 */
export async function noteConnectionBroken(
  platform: Stores & Observed,
  { _id, owner_id, app, name, health }: Connection,
  { code, message, at_ms }: ConnectionFault,
  session: ClientSession,
): Promise<void> {
  platform.log.warn({ connection_id: _id, owner_id, app, health, code }, "connection stopped working");
  await raiseAlert(
    platform,
    {
      ownerId: owner_id,
      type: "connection.broken",
      subject: { id: _id, name },
      sinceMs: at_ms,
      message: `The connection ${name} (${_id}) stopped working: ${message}.`,
      details: { app, health, code },
    },
    session,
  );
}
