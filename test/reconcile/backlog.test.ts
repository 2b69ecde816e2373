// runs-alone: it measures how long the reconciler's steps wait for each other
// runs-long: npm test has test/reconcile/turns.test.ts
import { expect } from "chai";
import { newDelivery } from "../../src/deliveries/dispatch/create.ts";
import { newId } from "../../src/lib/ids.ts";
import { Deliveries } from "../../src/models/delivery.ts";
import { StoredEvents } from "../../src/models/event.ts";
import { RunRecords } from "../../src/models/run.ts";
import { Sources } from "../../src/models/source.ts";
import { STEP_NAMES } from "../../src/reconcile/parts.ts";
import { Reconciler } from "../../src/reconcile/reconcile.ts";
import { readSweepProgress } from "../../src/store/sweeps/sweep-turns.ts";
import { storeSource } from "../sources/source-row.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { until } from "../support/until.ts";

const isFullSize = process.env.SWEEPS_FULL === "1";
const COUNT = isFullSize
  ? { deliveries: 1_000_000, events: 100_000, timers: 200_000 }
  : { deliveries: 20_000, events: 5000, timers: 5000 };
/** At full size the test ends after this, with what is left of the backlog; the other steps must not wait for it. */
const FULL_SIZE_MS = Number(process.env.SWEEPS_MINUTES ?? 10) * 60_000;
/** The steps that have something to do, or to look at, for each of these rows. */
const BACKLOGGED = ["deliveries", "dispatches", "schedulers", "timers"];
const ROWS_PER_INSERT = 5000;
const MB = 1024 * 1024;
const SWEEP_EVERY_S = isFullSize ? 30 : 1;
/** No step may pause for longer: a minute, or where turns come each second so many of them that no busy machine misses it. */
const MAX_PAUSE_MS = isFullSize ? 60_000 : 20 * SWEEP_EVERY_S * 1000;
/** Each step must be seen at work so often, the ones with nothing to do too. */
const MIN_TURNS = 3;
/** How much a sweep may add to the heap, whatever the size of the backlog. */
const MAX_HEAP_MB = 200;

/** `npm run test:sweeps` runs it at full size and prints what it measured (docs/design.md#guarantee-2). */
describe("the reconciler with a backlog in three steps", function () {
  this.timeout(isFullSize ? 60 * 60_000 : 120_000);
  let platform: TestPlatform;
  before(async () => {
    platform = await openTestPlatform({ SWEEP_EVERY: `${SWEEP_EVERY_S}s` });
    await storeBacklog();
  });
  after(() => platform.destroy());

  type Rows = { insertMany: (rows: never[], options: { ordered: boolean; lean: true }) => Promise<unknown> };

  async function insert(rows: Rows, count: number, row: (n: number) => object): Promise<void> {
    for (let at = 0; at < count; at += ROWS_PER_INSERT) {
      const some = Array.from({ length: Math.min(ROWS_PER_INSERT, count - at) }, (_, i) => row(at + i));
      await rows.insertMany(some as never[], { ordered: false, lean: true });
    }
  }

  /** Everything is overdue and has no job, as after a loss of Redis. */
  async function storeBacklog(): Promise<void> {
    const startedAt = Date.now();
    const ids = { subscriptionId: newId("sub"), webhookId: newId("wh"), ownerId: newId("u") };
    const event = { id: newId("emit"), event_id: `${startedAt}-0`, emitter_id: newId("p"), name: "" };
    const delivery = newDelivery(platform, event, ids, null);
    await insert(Deliveries(platform.mongo) as unknown as Rows, COUNT.deliveries, n => ({
      ...delivery,
      _id: newId("dlv"),
      webhook_id: `wh_${n % 1000}`,
      sweep_at_ms: startedAt - 60_000,
    }));
    await insert(StoredEvents(platform.mongo) as unknown as Rows, COUNT.events, n => ({
      _id: `${event.emitter_id}-${n}`,
      emitter_id: event.emitter_id,
      owner_id: ids.ownerId,
      event_id: event.event_id,
      score: n,
      name: "",
      event: "{}",
      has_webhook_listeners: true,
      created_at: new Date(startedAt - 60_000),
      pending_dispatch: {
        listeners: [[ids.subscriptionId, ids.webhookId, ids.ownerId]],
        webhook_ids: [ids.webhookId],
        job_id: `job-${n}`,
        sweep_at_ms: startedAt - 60_000,
      },
    }));
    const source = await storeSource(platform, { updated_at: 1 });
    await insert(Sources(platform.mongo) as unknown as Rows, COUNT.timers, n => ({
      ...source,
      _id: newId("dc"),
      name_slug: `timer-${n}`,
      timer: { cron: null, timezone: null, interval_seconds: 86_400 },
    }));
    if (isFullSize) console.log(`    rows stored in ${Math.round((Date.now() - startedAt) / 1000)} s`);
  }

  /** One lost thing in each of the other steps. */
  async function storeOthers(): Promise<void> {
    const sourceId = newId("dc");
    await RunRecords(platform.mongo).insertOne({
      _id: newId("run"),
      source_id: sourceId,
      owner_id: "u_1",
      kind: "http",
      outcome: "ok",
      duration_ms: 1,
      emitted: 1,
      dropped: {},
      outbox: [JSON.stringify({ emitter_id: sourceId, emit_id: newId("emit"), event: 1 })],
      finished_at: new Date(0),
      expires_at: new Date(Date.now() + 3_600_000),
    });
    await platform.redis.rpush(platform.keys.runQueue(sourceId), "{}");
    await platform.redis.zadd(platform.keys.sourcesWithRuns(), 1, sourceId);
    await storeSource(platform, { state: "deleting", active: false, updated_at: 1 });
    await storeSource(platform, { state: "deploying", updated_at: 1 });
  }

  it("gives every step its turn while the backlog lasts, in bounded memory", async () => {
    const reconciler = new Reconciler(platform);
    const gaps = new Map<string, number>(STEP_NAMES.map(name => [name, 0]));
    const turns = new Map<string, Set<number>>(STEP_NAMES.map(name => [name, new Set()]));
    const startedAt = Date.now();
    const heapBefore = process.memoryUsage().heapUsed;
    let heap = 0;
    const others = ["run_queues", "outboxes", "deleting", "deploying"] as const;
    const backlogged = async () =>
      (await Deliveries(platform.mongo).countDocuments({
        state: "pending",
        sweep_at_ms: { $lte: startedAt },
      })) +
      (await StoredEvents(platform.mongo).countDocuments({
        "pending_dispatch.sweep_at_ms": { $gt: 0, $lte: startedAt },
      }));
    reconciler.start();
    let rounds = 0;
    // The things of the other steps are repaired again and again, until the backlog is done.
    await until(
      async () => {
        if (
          rounds === 0 ||
          (await platform.metrics.valueOf("reconciled_total", { step: "deploying" })) >= rounds
        ) {
          rounds += 1;
          await storeOthers();
        }
        const progress = await readSweepProgress(platform);
        for (const name of STEP_NAMES) {
          const at = progress.get(name)?.at_ms;
          const gap = Date.now() - (at ?? startedAt);
          gaps.set(name, Math.max(gaps.get(name) ?? 0, gap));
          if (at !== undefined) turns.get(name)?.add(at);
        }
        heap = Math.max(heap, process.memoryUsage().heapUsed - heapBefore);
        const isTimeOver = isFullSize && Date.now() - startedAt > FULL_SIZE_MS;
        const hadTurns = [...turns.values()].every(({ size }) => size >= MIN_TURNS);
        return rounds > 2 && (isTimeOver || (hadTurns && (await backlogged()) === 0));
      },
      { timeoutMs: isFullSize ? FULL_SIZE_MS + 120_000 : 110_000, what: "the backlog is swept" },
    );
    await reconciler.stop();
    const repaired = new Map<string, number>();
    for (const step of STEP_NAMES) {
      repaired.set(step, await platform.metrics.valueOf("reconciled_total", { step }));
    }
    if (isFullSize) {
      console.log(`    ${await backlogged()} of the backlog left`);
      const seconds = Math.round((Date.now() - startedAt) / 1000);
      console.log(
        `    ${seconds} s, heap + ${Math.round(heap / MB)} MB; longest pause of a step, and repairs:`,
      );
      for (const [name, gap] of gaps)
        console.log(`    ${name}: ${(gap / 1000).toFixed(1)} s, ${repaired.get(name)}`);
    }
    for (const [name, gap] of gaps) expect(gap, `longest pause of ${name}`).to.be.below(MAX_PAUSE_MS);
    const progress = await readSweepProgress(platform);
    for (const name of STEP_NAMES) {
      expect(turns.get(name)?.size, `turns of ${name}`).to.be.at.least(MIN_TURNS);
      // Only those with a backlog may still be on their first way through it.
      if (!BACKLOGGED.includes(name))
        expect(progress.get(name)?.ended_at_ms, `end of ${name}`).to.be.a("number");
    }
    const left = await backlogged();
    const swept = (repaired.get("deliveries") ?? 0) + (repaired.get("dispatches") ?? 0);
    expect(swept + left, "repaired, or still to come").to.be.at.least(COUNT.deliveries + COUNT.events);
    for (const step of [...others, "timers"]) {
      expect(repaired.get(step), step).to.be.at.least(1);
    }
    expect(heap / MB).to.be.below(MAX_HEAP_MB);
  });
});
