import { expect } from "chai";
import { newId } from "../../src/lib/ids.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { RunRecords } from "../../src/models/run.ts";
import { recordRuns } from "../../src/runs/record.ts";
import { idleTickKeptMs } from "../../src/runs/tick.ts";
import { openTestPlatform } from "../support/platform.ts";

const HOUR_MS = 3_600_000;
const NOON = Date.UTC(2026, 0, 10, 12);
const cron = (pattern: string) => ({ cron: pattern, timezone: "UTC", interval_seconds: null });

describe("the record of a tick that emitted nothing", () => {
  it("is kept for an hour, and that of a cron until its next moment is over, at most 7 days", () => {
    const every = { interval_seconds: 60, cron: null, timezone: null };
    expect(idleTickKeptMs(every, NOON)).to.equal(LIMITS.idleTickKept.value);
    expect(idleTickKeptMs(cron("0 15 * * *"), NOON)).to.equal(4 * HOUR_MS);
    expect(idleTickKeptMs(cron("0 0 1 1 *"), NOON)).to.equal(LIMITS.runKept.value);
  });

  it("expires before others, unless it holds the outbox of its batch", async () => {
    const platform = await openTestPlatform({}, { clock: () => NOON });
    const run = (keptMs?: number) => ({
      ...{ _id: newId("run"), source_id: newId("dc"), owner_id: newId("u"), kind: "timer", outcome: "ok" },
      ...{ duration_ms: 1, emitted: 0, dropped: {}, emissions: [], ...(keptMs && { keptMs }) },
    });
    const [idle, other, leader] = [run(HOUR_MS), run(), run(HOUR_MS)];
    const emission = { emitter_id: leader.source_id, emit_id: newId("emit"), event: {} };
    await recordRuns(platform, [idle]);
    await recordRuns(platform, [leader, { ...other, emissions: [emission] }]);
    const stored = await RunRecords(platform.mongo).find().lean();
    const kept = new Map(stored.map(({ _id, expires_at }) => [_id, (expires_at.getTime() - NOON) / HOUR_MS]));
    expect([idle, other, leader].map(({ _id }) => kept.get(_id))).to.deep.equal([
      1,
      ...[LIMITS.runKept, LIMITS.runKept].map(({ value }) => value / HOUR_MS),
    ]);
    await platform.destroy();
  });
});
