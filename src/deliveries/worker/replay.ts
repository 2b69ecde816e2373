import { canAccessCached } from "../../accounts/access.ts";
import { AppError } from "../../lib/errors.ts";
import type { Delivery } from "../../models/delivery.ts";
import { type Replay, Replays } from "../../models/replay.ts";
import { Webhooks } from "../../models/webhook.ts";
import type { Calling, Stores, Working } from "../../platform.ts";
import type { ReplayJob } from "../../queues/deliveries.ts";
import { Snooze } from "../../queues/verdicts.ts";
import { describeError } from "../../store/sweeps/set-aside.ts";
import { requeue } from "../attempt/next-attempt.ts";
import { selectSendable } from "../attempt/prepare.ts";
import { findSelected, selectDeliveries } from "../select/select.ts";
import type { LogFields } from "./due.ts";

const BATCH = 500;
/** Between two batches, so that a million retries neither hold a slot nor delay everything else. */
const BATCH_SPACING_MS = 250;

/**
 * Handles a `replay` job: retries one batch of what the replay selects, oldest first, and comes back for the next. How far it
 * is, is in the replay, so a repeated job retries at most one batch twice. Deliveries that can't be sent again stay as they
 * are: their event, subscription or webhook is gone, or the webhook is disabled.
 */
export async function runReplay(
  platform: Working & Calling,
  { job }: { job: ReplayJob },
  batchSize = BATCH,
): Promise<LogFields> {
  const replay = await Replays(platform.mongo).findById(job.replay_id).lean<Replay | null>();
  if (replay?.state !== "running") return { ...job, result: "superseded" };
  try {
    return await replayBatch(platform, { replay, job }, batchSize);
  } catch (error) {
    if (error instanceof Snooze) throw error;
    // A store that is away does not count: its jobs wait.
    if (!(error instanceof AppError)) await save(platform, replay, { error: describeError(error) });
    throw error;
  }
}

async function replayBatch(
  platform: Working & Calling,
  { replay, job }: { replay: Replay; job: ReplayJob },
  batchSize: number,
): Promise<LogFields> {
  const { owner_id: owner, filter } = replay;
  const owners = await stillAccessible(platform, replay);
  const selection = await selectDeliveries(platform, { owner, owners }, filter).catch((error: unknown) => {
    if (error instanceof AppError && error.code !== "unavailable") return error;
    throw error;
  });
  if (selection instanceof AppError) {
    // What it names was deleted since, or payloads are no longer searched.
    const reason = selection.message;
    await save(platform, replay, { state: "stopped", reason, finished_at_ms: platform.clock() });
    return { ...job, result: "stopped" };
  }
  const { rows, startCursor, isEnd } = await findSelected(platform, selection, {
    limit: batchSize,
    before: replay.done_id,
  });
  const found = rows.filter(({ _id }) => _id < replay.end_id);
  const replayed = replay.replayed + (await requeue(platform, await selectReplayable(platform, found)));
  const skipped = replay.skipped + found.length - (replayed - replay.replayed);
  const isDone = isEnd || startCursor === null || startCursor >= replay.end_id;
  if (isDone) {
    await save(platform, replay, { replayed, skipped, state: "done", finished_at_ms: platform.clock() });
    return { ...job, replayed, skipped, result: "replayed" };
  }
  await save(platform, replay, { replayed, skipped, done_id: startCursor, failures: 0 });
  throw new Snooze(BATCH_SPACING_MS, { ...job, replayed });
}

/** Without the organizations that its user has left since the replay was requested. */
async function stillAccessible(platform: Working & Calling, { owner_id, owners }: Replay): Promise<string[]> {
  await platform.routing.refresh();
  const access = await Promise.all(owners.map(owner => canAccessCached(platform, owner_id, owner)));
  return owners.filter((_, i) => access[i]);
}

/** Changes the replay, unless it was stopped. */
async function save({ mongo }: Stores, { _id }: Replay, changes: Partial<Replay>): Promise<void> {
  await Replays(mongo).updateOne({ _id, state: "running" }, { $set: changes });
}

/** Those that may be sent again, whose subscription still exists, and whose webhook is active. */
async function selectReplayable(platform: Working & Calling, rows: Delivery[]): Promise<Delivery[]> {
  const [sendable, webhooks] = await Promise.all([
    selectSendable(platform, rows),
    Webhooks(platform.mongo)
      .find({ _id: { $in: [...new Set(rows.map(row => row.webhook_id))] }, active: true }, { _id: 1 })
      .lean(),
  ]);
  const isActive = new Set(webhooks.map(({ _id }) => _id));
  return sendable.flatMap(({ row, isSubscribed }) =>
    isSubscribed && isActive.has(row.webhook_id) ? [row] : [],
  );
}
