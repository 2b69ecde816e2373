import { accessLost, canAccess } from "../../accounts/access.ts";
import { findDestination } from "../../destinations/destinations.ts";
import { AppError, notFound } from "../../lib/errors.ts";
import { OpenCounts } from "../../lib/open-counts.ts";
import { needsRole } from "../../lib/roles.ts";
import { LIMITS } from "../../limits/catalogue.ts";
import { NOTHING_PULLED } from "../../models/pulled-event.ts";
import { type Destination, Webhooks } from "../../models/webhook.ts";
import type { Awaited, Stores } from "../../platform.ts";
import { type Bell, withBell } from "./bell.ts";
import { positionIn } from "./cursor.ts";
import { readKept } from "./read.ts";
import type { Pulled } from "./schema.ts";

/** In one web process, by account: each that waits holds a socket. */
const waitingPulls = new OpenCounts();
/** When a pull looks again whose next event is not stored yet. */
const SOON_MS = 100;
/** When a pull that was one too many may be sent again. */
const RETRY_AFTER_MS = 5000;

/** Returns a destination that is pulled from, of one of these owners, otherwise null (docs/design.md#guarantee-6). */
export async function findPulled(
  platform: Stores,
  id: string,
  owners: string[],
): Promise<Destination | null> {
  const found = await findDestination(platform, id, owners);
  return found?.kind === "pull" ? found : null;
}

export interface PullRequest {
  after: string | undefined;
  limit: number;
  /** How long to wait if nothing is kept. */
  waitMs: number;
  /** Who asks, which is asked again after a wait. */
  caller: { userId: string; keyId: string };
  /** Aborts once the caller has left. */
  signal: AbortSignal;
}

/**
 * Returns the events that are kept for a listener behind a cursor, and waits for some if there are none. Everything up to the cursor
 * is acknowledged. That is kept with the listener and never taken back: a caller with an older cursor, or with none, begins behind
 * what is acknowledged. What is returned and not acknowledged is returned again: a caller that is killed loses nothing, and two callers
 * with one cursor both get the same events. Throws `invalid` for a cursor that is not the listener's, `rate-limited` if its account has too
 * many pulls waiting, and what the same request would be rejected with after the wait.
 */
export async function pullEvents(
  platform: Stores & Awaited,
  listener: Destination,
  request: PullRequest,
): Promise<Pulled> {
  const { after, limit, waitMs } = request;
  const { last, acknowledged } = listener.pull ?? NOTHING_PULLED;
  const behind = after === undefined ? 0 : positionIn(after, { id: listener._id, last });
  if (behind > acknowledged) {
    await acknowledge(platform, listener, { position: behind, by: request.caller.userId });
  }
  const wanted = { behind, limit };
  const pulled = await readKept(platform, listener, wanted);
  if (waitMs === 0 || isWorthIt(pulled)) return pulled;
  const release = waitingPulls.open(listener.owner_id, LIMITS.pullsWaiting.value);
  if (!release) {
    const message = `this account already has ${LIMITS.pullsWaiting.value} pulls that wait`;
    throw new AppError("rate-limited", message, { retryAfterMs: RETRY_AFTER_MS });
  }
  try {
    return await withBell(platform, listener._id, request.signal, bell =>
      untilKept(platform, { listener, wanted, request, bell }),
    );
  } finally {
    release();
  }
}

/** What is gone is told at once, too: the cursor behind it begins anywhere else. */
const isWorthIt = ({ events, truncated }: Pulled): boolean => events.length > 0 || truncated;

/**
 * Moves what is acknowledged forward, and never back, whatever requests come at the same time. Throws `forbidden` for who only views
 * the listener's organization: it takes events away from those who pull them.
 */
async function acknowledge(
  platform: Stores,
  { _id, owner_id }: Destination,
  { position, by }: { position: number; by: string },
): Promise<void> {
  if (!(await canAccess(platform, by, owner_id, "use"))) throw needsRole("member");
  await Webhooks(platform.mongo).updateOne(
    { _id, "pull.acknowledged": { $lt: position } },
    { $set: { "pull.acknowledged": position, "pull.waiting_since_ms": platform.clock() } },
  );
}

interface Waiting {
  listener: Destination;
  wanted: { behind: number; limit: number };
  request: PullRequest;
  bell: Bell;
}

async function untilKept(
  platform: Stores & Awaited,
  { listener, wanted, request, bell }: Waiting,
): Promise<Pulled> {
  const until = performance.now() + request.waitMs;
  for (;;) {
    // Once the bell listens, so that nothing is kept unheard in between.
    const pulled = await readKept(platform, await findAgain(platform, listener, request), wanted);
    const leftMs = until - performance.now();
    if (isWorthIt(pulled) || bell.isOver || leftMs <= 0) return pulled;
    // What is kept and can't be read yet rings no more.
    await bell.wait(pulled.has_more ? Math.min(leftMs, SOON_MS) : leftMs);
  }
}

/** Returns the listener as it is now. Throws what the request would be rejected with if it came now. */
async function findAgain(
  platform: Stores,
  { _id, owner_id }: Destination,
  { caller }: PullRequest,
): Promise<Destination> {
  const lost = await accessLost(platform, caller.keyId, owner_id);
  if (lost === "access-lost") throw notFound("listener");
  if (lost !== null) throw new AppError("unauthenticated", "the API key or the session has ended");
  const found = await findPulled(platform, _id, [owner_id]);
  if (!found) throw notFound("listener");
  return found;
}
