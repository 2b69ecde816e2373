import { expect } from "chai";
import { RunRecords } from "../../src/models/run.ts";
import { parseRunItem, type TriggerItem } from "../../src/queues/run-item.ts";
import { handleTick } from "../../src/runs/handle-job.ts";
import { Claim } from "../../src/runs/lease.ts";
import { failCrashedRun, runBatch } from "../../src/runs/run.ts";
import { tick, tickRunId } from "../../src/runs/tick.ts";
import { readDrops } from "../../src/store/events/drops.ts";
import { admitTick } from "../../src/store/runs/admit-tick.ts";
import { leaseToken, UNBOUNDED } from "../../src/store/runs/run-queue.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { jobOf, storeRunnableSource, withSandbox } from "./runnable-source.ts";

/** How far a worker got with a tick before it was killed. */
const KILLED: Record<string, (killed: Killed) => Promise<void>> = {
  async "before its run is queued"({ platform, sourceId, dueAtMs, runId }) {
    await admitTick(platform, sourceId, { runId, dueAtMs, run: "{}" });
  },
  async "after its run is queued"({ platform, sourceId, dueAtMs }) {
    await tick(platform, sourceId, dueAtMs);
  },
  async "after its run is claimed"(killed) {
    await killed.tickAndClaim();
  },
  async "after its run is recorded, before it is acknowledged"(killed) {
    const { platform, sourceId, signal } = killed;
    const items = await killed.tickAndClaim();
    const claim = new Claim("killed", { claimed: items.length, crashes: 0, settled: 0 });
    await runBatch(withSandbox(platform), sourceId, { claim, items }, signal);
  },
  async "after its run crashed several workers"(killed) {
    const { platform, sourceId } = killed;
    const [item] = await killed.tickAndClaim();
    await failCrashedRun(withSandbox(platform), sourceId, item as TriggerItem, 4);
  },
  async "after its run is acknowledged, before its job ends"({ platform, sourceId, dueAtMs }) {
    await handleTick(withSandbox(platform), jobOf(platform, sourceId, dueAtMs));
  },
  async "after the next tick ran as well"({ platform, sourceId, dueAtMs }) {
    await handleTick(withSandbox(platform), jobOf(platform, sourceId, dueAtMs));
    await handleTick(withSandbox(platform), jobOf(platform, sourceId, Date.now() + 1));
  },
};

interface Killed {
  platform: TestPlatform;
  sourceId: string;
  dueAtMs: number;
  runId: string;
  signal: AbortSignal;
  tickAndClaim: () => Promise<TriggerItem[]>;
}

const PERIOD_SECONDS = 60;

describe("a tick whose worker is killed, and which is started again", () => {
  let platform: TestPlatform;
  before(async () => {
    platform = await openTestPlatform();
  });
  after(() => platform.destroy());

  const recorded = (sourceId: string) => RunRecords(platform.mongo).countDocuments({ source_id: sourceId });

  for (const [when, getThere] of Object.entries(KILLED)) {
    it(`${when}, runs once and leaves the timer ticking`, async () => {
      const timer = { cron: null, timezone: null, interval_seconds: PERIOD_SECONDS };
      const { _id: sourceId } = await storeRunnableSource(platform, { timer });
      const dueAtMs = Date.now() - 1000;
      const tickAndClaim = async () => {
        await tick(platform, sourceId, dueAtMs);
        const token = leaseToken(`job-${dueAtMs}`);
        const claimed = await platform.runQueue.claim(sourceId, token, 1000, 1);
        if (claimed.state !== "runs") throw new Error("nothing to claim");
        return claimed.runs.map(text => parseRunItem(text) as TriggerItem);
      };
      const { signal } = new AbortController();
      const runId = tickRunId(sourceId, dueAtMs);
      await getThere({ platform, sourceId, dueAtMs, runId, signal, tickAndClaim });

      // Twice, because the worker after it may be killed as well.
      for (let again = 1; again <= 2; again++) {
        await handleTick(withSandbox(platform), jobOf(platform, sourceId, dueAtMs));
      }
      expect(await RunRecords(platform.mongo).countDocuments({ _id: runId }), "its own runs").to.equal(1);
      expect(await platform.runQueue.length(sourceId)).to.equal(0);
      const before = await recorded(sourceId);
      for (const nth of [1, 2]) {
        expect(await tick(platform, sourceId, Date.now() + nth), `tick ${nth} after it`).to.equal("enqueued");
        await handleTick(withSandbox(platform), jobOf(platform, sourceId, dueAtMs));
        expect(await recorded(sourceId)).to.equal(before + nth);
      }
      expect(await readDrops(platform, sourceId), "drops").to.deep.equal({});
    });
  }

  it("does not stop later ticks if its mark was left behind while other runs of the source wait", async () => {
    const timer = { cron: null, timezone: null, interval_seconds: PERIOD_SECONDS };
    const { _id: sourceId } = await storeRunnableSource(platform, { timer });
    await admitTick(platform, sourceId, { runId: "run_killed", dueAtMs: Date.now() - 2000, run: "{}" });
    await platform.runQueue.push(sourceId, ['{"kind":"http"}'], UNBOUNDED);
    expect(await tick(platform, sourceId, Date.now() + 1)).to.equal("enqueued");
    expect(await tick(platform, sourceId, Date.now() + 2), "while that one waits").to.equal("overlap");
  });
});
