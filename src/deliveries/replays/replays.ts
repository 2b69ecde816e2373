import { AppError } from "../../lib/errors.ts";
import { firstIdAt, newId } from "../../lib/ids.ts";
import { unixSeconds } from "../../lib/time.ts";
import { LIMITS } from "../../limits/catalogue.ts";
import { type Replay, type ReplayFilter, Replays } from "../../models/replay.ts";
import type { Queued, Stores } from "../../platform.ts";
import { enqueue } from "../../queues/define-queue.ts";
import { deliveries } from "../../queues/deliveries.ts";
import { type Page, type PageRequest, pageOf } from "../../store/page.ts";
import { countSelected } from "../select/count.ts";
import { selectDeliveries } from "../select/select.ts";
import type { SearchScope } from "../select/selection.ts";

/** Returns a page of an account's replays, newest first. */
export function listReplays(platform: Stores, ownerId: string, page: PageRequest): Promise<Page<Replay>> {
  return pageOf(Replays(platform.mongo), { owner_id: ownerId }, page);
}

async function findReplay(platform: Stores, id: string, owners: string[]): Promise<Replay | null> {
  return await Replays(platform.mongo)
    .findOne({ _id: id, owner_id: { $in: owners } })
    .lean<Replay | null>();
}

/** The access rule of routes whose path names a replay. */
export const ownReplay = { kind: "resource", what: "replay", load: findReplay } as const;

/** Stops a replay; what it has retried stays so. Does nothing to one that has ended. */
export async function stopReplay({ mongo, clock }: Stores, { _id }: Pick<Replay, "_id">): Promise<void> {
  await Replays(mongo).updateOne(
    { _id, state: "running" },
    { $set: { state: "stopped", finished_at_ms: clock() } },
  );
}

/** Counts what a replay would retry, exactly up to `LIMITS.replayCounted`. Throws as `selectDeliveries`. */
export async function countReplay(
  platform: Stores,
  scope: SearchScope,
  filter: ReplayFilter,
): Promise<{ count: number; isExact: boolean }> {
  const selection = await selectDeliveries(platform, scope, filter);
  return await countSelected(platform, selection, LIMITS.replayCounted.value);
}

/**
 * Has a worker retry every delivery that a filter selects now, oldest first, and returns the replay as it begins. Throws
 * `not-found` for a webhook or an emitter of none of the accounts, and `conflict` if the account has as many running as it
 * may.
 */
export async function startReplay(
  platform: Stores & Queued,
  scope: SearchScope,
  filter: ReplayFilter,
): Promise<Replay> {
  const now = platform.clock();
  const { count, isExact } = await countReplay(platform, scope, filter);
  await checkRunning(platform, scope.owner);
  const replay: Replay = {
    _id: newId("rpl", now),
    owner_id: scope.owner,
    owners: scope.owners,
    filter,
    state: "running",
    count,
    count_is_exact: isExact,
    replayed: 0,
    skipped: 0,
    done_id: firstIdAt("dlv", 0),
    end_id: firstIdAt("dlv", now + 1),
    failures: 0,
    error: null,
    reason: null,
    created_at: unixSeconds(now),
    finished_at_ms: null,
    expires_at: new Date(now + LIMITS.replayKept.value),
  };
  await Replays(platform.mongo).insertOne(replay);
  await enqueue(platform.queues, deliveries.jobs.replay, { replay_id: replay._id, account_id: scope.owner });
  return replay;
}

/** One whose job was lost with Redis counts, too: the reconciler continues it. */
async function checkRunning(platform: Stores & Queued, ownerId: string): Promise<void> {
  const most = LIMITS.replaysRunning.value;
  const running = await Replays(platform.mongo).countDocuments(
    { owner_id: ownerId, state: "running" },
    { limit: most },
  );
  if (running >= most)
    throw new AppError("conflict", `the account has ${most} replays running: stop one first`);
}
