import type { Readable } from "node:stream";
import { accessLost } from "../accounts/access.ts";
import { limitsOf } from "../accounts/limits.ts";
import { presentDelivery } from "../deliveries/read.ts";
import { findEmitter } from "../events/find.ts";
import { LiveStream, openStream, streamEvents } from "../events/live.ts";
import { notFound } from "../lib/errors.ts";
import { eventMs } from "../lib/ids.ts";
import type { Delivery } from "../models/delivery.ts";
import type { RunRecord } from "../models/run.ts";
import type { Awaited, Observed, Stores } from "../platform.ts";
import { presentRun } from "../runs/present.ts";
import type { AccountActivity } from "../store/activity.ts";
import type { Emitter } from "../subscriptions/match.ts";

export type LiveDeps = Stores & Observed & Awaited;

export interface LiveRequest {
  emitterIds: string[];
  deliveries: boolean;
  runs: boolean;
  lastEventId: string | null;
  /** The account whose deliveries and runs are shown, and those whose emitters may be named. */
  owner: string;
  owners: string[];
  caller: { userId: string; keyId: string };
}

/** Events of several emitters do not arrive in the order of their ids: a resumed stream begins a little earlier. */
const OVERLAP_MS = 2000;

/**
 * Streams the events of some emitters, and the deliveries and runs of an account, as server-sent events; it ends, as
 * `watchEvents` does, when its caller loses access or its process loses Redis. Deliveries and runs are not replayed: each
 * connection begins with `ready`, on which a reader reads its lists. Throws `not-found` for an emitter of none of the
 * accounts, and `rate-limited` if the user has as many streams open as the plan allows.
 */
export async function watchLive(platform: LiveDeps, request: LiveRequest): Promise<Readable> {
  const emitters = await findEmitters(platform, request);
  const { userId } = request.caller;
  const release = openStream(userId, (await limitsOf(platform, userId)).streams);
  const live = new LiveStream({
    whyEnded: () => whyEnded(platform, request, emitters),
    ...(showsAccount(request) && { onHeartbeat: () => platform.activity.watch(request.owner) }),
  });
  live.out.once("close", release);
  try {
    await start(platform, live, request, emitters);
    return live.out;
  } catch (error) {
    live.out.destroy();
    throw error;
  }
}

const showsAccount = ({ deliveries, runs }: LiveRequest): boolean => deliveries || runs;

/** Throws `not-found` unless each of the named emitters belongs to one of the accounts. */
async function findEmitters(
  platform: LiveDeps,
  { emitterIds, owners }: Pick<LiveRequest, "emitterIds" | "owners">,
): Promise<Emitter[]> {
  return await Promise.all(
    emitterIds.map(async id => {
      const emitter = await findEmitter(platform, id);
      if (!emitter || emitter.isHidden || !owners.includes(emitter.owner_id)) throw notFound("emitter");
      return emitter;
    }),
  );
}

/** Why the same request would be rejected now. */
async function whyEnded(
  platform: LiveDeps,
  { owner, caller }: LiveRequest,
  emitters: Emitter[],
): Promise<string | null> {
  for (const ownerId of new Set([owner, ...emitters.map(({ owner_id }) => owner_id)])) {
    const reason = await accessLost(platform, caller.keyId, ownerId);
    if (reason !== null) return reason;
  }
  return null;
}

async function start(
  platform: LiveDeps,
  live: LiveStream,
  request: LiveRequest,
  emitters: Emitter[],
): Promise<void> {
  const { lastEventId } = request;
  const isResumed = lastEventId !== null;
  await streamEvents(platform, live, {
    emitterIds: emitters.map(({ id }) => id),
    sinceId: isResumed ? `${Math.max(0, eventMs(lastEventId) - OVERLAP_MS)}-0` : null,
    async onSubscribed() {
      if (showsAccount(request)) await streamActivity(platform, live, request);
      live.send("ready", { resumed: isResumed });
    },
  });
}

/** Sends the deliveries and runs of the account to a stream, from now on. */
async function streamActivity(platform: LiveDeps, live: LiveStream, request: LiveRequest): Promise<void> {
  const { owner } = request;
  const feed = await platform.feed();
  const onMessage = (message: string) => sendActivity(live, request, JSON.parse(message));
  live.onClose(
    await feed.subscribe(platform.keys.accountFeed(owner), { onMessage, onLost: () => live.end() }),
  );
  await platform.activity.watch(owner);
}

function sendActivity(live: LiveStream, request: LiveRequest, message: AccountActivity): void {
  const deliveries = request.deliveries ? (message.deliveries as Delivery[]) : [];
  const runs = request.runs ? (message.runs as RunRecord[]) : [];
  // As JSON, dates are texts.
  for (const row of deliveries) {
    live.send("delivery", presentDelivery({ ...row, created_at: new Date(row.created_at) }));
  }
  for (const row of runs) live.send("run", presentRun({ ...row, finished_at: new Date(row.finished_at) }));
  const skipped = {
    deliveries: request.deliveries ? message.skipped.deliveries : 0,
    runs: request.runs ? message.skipped.runs : 0,
  };
  if (skipped.deliveries + skipped.runs > 0) live.send("skipped", skipped);
}
