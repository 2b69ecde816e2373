import { newId } from "../../src/lib/ids.ts";
import { Replays } from "../../src/models/replay.ts";
import { Webhooks } from "../../src/models/webhook.ts";
import type { TestPlatform } from "../support/platform.ts";

/** Stores a replay that began long ago and has no job. */
export async function storeReplay(platform: TestPlatform, _id: string): Promise<void> {
  await Replays(platform.mongo).insertOne({
    _id,
    owner_id: newId("u"),
    owners: [],
    filter: {},
    state: "running",
    count: 0,
    count_is_exact: true,
    replayed: 0,
    skipped: 0,
    done_id: "dlv_0000000",
    end_id: "dlv_z",
    created_at: 1,
    finished_at_ms: null,
    failures: 0,
    error: null,
    reason: null,
    expires_at: new Date(Date.now() + 3_600_000),
  });
}

/** Stores as much of a webhook as a recovery needs that began long ago and has no job. */
export async function storeRecovery(platform: TestPlatform, _id: string): Promise<void> {
  const recovery = {
    id: newId("rec"),
    since_ms: 0,
    state: "running" as const,
    count: 0,
    recovered: 0,
    next_delivery_id: "dlv_0000000",
    started_at_ms: 1,
    finished_at_ms: null,
  };
  await Webhooks(platform.mongo).collection.insertOne({ _id, owner_id: newId("u"), recovery } as never);
}
