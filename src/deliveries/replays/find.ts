import { type Replay, Replays } from "../../models/replay.ts";
import type { Stores } from "../../platform.ts";
import { type Page, type PageRequest, pageOf } from "../../store/page.ts";

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
