import type { Part } from "../lib/part.ts";
import { repairEach } from "../store/repair-each.ts";
import { listSettled, readSettled } from "../store/settled-runs.ts";
import type { SweepBatch } from "../store/sweep-turns.ts";
import type { RunDeps } from "./deps.ts";
import { finishSettled } from "./late-records.ts";
import type { SettledText } from "./settle.ts";

type Deps = Parameters<typeof finishSettled>[0] & Pick<RunDeps, "runQueue">;

/** Does what is left to be done for runs that were settled `graceMs` ago by a process that died since. */
export function beginSettledSweep(platform: Deps, graceMs: number, part: Part): SweepBatch {
  const beforeMs = platform.clock() - graceMs;
  return async cursor => {
    // Busy sources too: a holder of their lease looks after its own runs only.
    const { listed, next } = await platform.runQueue.findListed(Number.POSITIVE_INFINITY, cursor, part);
    const found = await Promise.all(listed.map(sourceId => listSettled(platform, sourceId)));
    const old = listed.flatMap((sourceId, i) =>
      (found[i] ?? []).filter(({ atMs }) => atMs < beforeMs).map(({ id }) => ({ sourceId, id })),
    );
    const repaired = await repairEach(platform, old, {
      step: "settled",
      idOf: ({ sourceId, id }) => `${sourceId} ${id}`,
      repair: ({ sourceId, id }) => finishOne(platform, sourceId, id),
    });
    return { repaired, next };
  };
}

/** Read one at a time: an entry may be half a megabyte. */
async function finishOne(platform: Deps, sourceId: string, id: string): Promise<boolean> {
  const settled = await readSettledRuns(platform, sourceId, id);
  if (!settled) return false;
  await finishSettled(platform, [settled]);
  return true;
}

/** Returns an entry as the process that settled it had it; null if it is done. */
async function readSettledRuns(platform: Deps, sourceId: string, id: string) {
  const stored = await readSettled(platform, sourceId, id);
  if (!stored) return null;
  const { records, outbox } = JSON.parse(stored.text) as SettledText;
  const dated = records.map(record => ({
    ...record,
    finished_at: new Date(record.finished_at),
    expires_at: new Date(record.expires_at),
  }));
  const unsent = outbox.map((text, i) => ({ text, score: stored.score + i }));
  const before = platform.replicas.begin();
  return { id, sourceId, records: dated, bytes: stored.text.length, unsent, before };
}

/** Returns the ids of a source's runs that are settled and whose records may not be stored yet. */
export async function settledRunIds(platform: RunDeps, sourceId: string): Promise<string[]> {
  const ids: string[] = [];
  for (const { id } of await listSettled(platform, sourceId)) {
    const own = platform.late?.runIdsOf(id);
    ids.push(...(own ?? (await readRunIds(platform, sourceId, id))));
  }
  return ids;
}

async function readRunIds(platform: Deps, sourceId: string, id: string): Promise<string[]> {
  const settled = await readSettledRuns(platform, sourceId, id);
  return (settled?.records ?? []).map(({ _id }) => _id);
}
