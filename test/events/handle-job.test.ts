import { expect } from "chai";
import { eventOf } from "../../src/events/read.ts";
import { newId } from "../../src/lib/ids.ts";
import { enqueue, enqueueAll, openedQueue } from "../../src/queues/define-queue.ts";
import { type Emission, type EmissionsJob, emissions } from "../../src/queues/emissions.ts";
import type { RunningWorker } from "../../src/queues/run-worker.ts";
import { readDrops } from "../../src/store/events/drops.ts";
import { start } from "../../workers/emissions.ts";
import { storeSource } from "../sources/source-row.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { until } from "../support/until.ts";

describe("a job of emissions", () => {
  let platform: TestPlatform;
  let worker: RunningWorker;
  let emitterId: string;
  beforeEach(async () => {
    platform = await openTestPlatform();
    emitterId = (await storeSource(platform))._id;
    worker = start(platform);
    await worker.ready();
  });
  afterEach(async () => {
    await worker.close(1000);
    await platform.destroy();
  });

  const emission = (event: unknown, more: Partial<Emission> = {}): Emission => ({
    emitter_id: emitterId,
    emit_id: newId("emit"),
    event,
    ...more,
  });
  const queue = () => openedQueue(platform.queues, emissions);
  const stored = async (count: number) => {
    const found = await until(
      async () => {
        const { rows } = await platform.eventLog.page(emitterId, "emits", { limit: 100 });
        return rows.length >= count && rows;
      },
      { what: `${count} events` },
    );
    return found.map(row => eventOf(row).value).reverse();
  };
  const dropped = (count: number) =>
    until(async () => (await readDrops(platform, emitterId)).invalid === count, { what: `${count} drops` });

  let nested: unknown = 1;
  for (let level = 0; level < 101; level++) nested = [nested];

  it("loses only the emissions that break the rules, and counts them", async () => {
    const bad: Partial<Emission>[] = [
      { name: "x".repeat(129) },
      { name: "line\nbreak" },
      { name: "nul\0" },
      { name: "\u2028" },
      { name: "$own" },
      { event: nested },
      { emit_id: "" },
      { emit_id: "x".repeat(257) },
      { summary: "x".repeat(1025) },
      { hops: -1 },
    ];
    const all = bad.flatMap((fault, n) => [emission(n), emission("bad", fault)]);
    await enqueue(platform.queues, emissions.jobs.emissions, {
      emissions: [...all, null as unknown as Emission],
    });
    expect(await stored(bad.length)).to.deep.equal(bad.map((_, n) => n));
    await dropped(bad.length);
    expect(await queue().getJobCountByTypes("failed")).to.equal(0);
  });

  it("stores the others if one can't be stored, and tries only that one again", async () => {
    const huge = "x".repeat(17 * 1024 * 1024);
    const job = { emissions: [emission(1), emission(huge), emission(2)] };
    await queue().add("emissions", job, { attempts: 2 });
    const rows = await stored(3);
    expect([rows[0], rows[2]]).to.deep.equal([1, 2]);
    await until(async () => (await queue().getJobCountByTypes("failed")) === 1, {
      what: "the end of its attempts",
    });
    await dropped(1);
    const [failed] = await until(async () => {
      const jobs = await queue().getFailed();
      return JSON.stringify(jobs[0]?.data).length < 1000 && jobs;
    });
    const ids = { emitter_id: emitterId, emit_id: job.emissions[1]?.emit_id };
    expect(failed?.data).to.deep.equal({ emissions: [ids] });
  });

  it("that fails keeps small events for an operator, and of large ones only the ids", async () => {
    const events = ["small", "x".repeat(100_000)];
    const jobs = events.map((event): EmissionsJob => ({ emissions: [emission(event, { name: "$own" })] }));
    await enqueueAll(platform.queues, emissions.jobs.emissions, jobs);
    await dropped(2);
    await until(async () => {
      const kept = (await queue().getFailed()).map(({ data }) => data.emissions[0].event);
      return kept.length === 2 && kept.includes("small") && kept.includes(undefined);
    });
  });
});
