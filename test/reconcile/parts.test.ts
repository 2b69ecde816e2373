import { expect } from "chai";
import { newDelivery } from "../../src/deliveries/dispatch/create.ts";
import { newId } from "../../src/lib/ids.ts";
import { Deliveries } from "../../src/models/delivery.ts";
import { Sources } from "../../src/models/source.ts";
import { collectInstallation } from "../../src/ops/metrics.ts";
import { openedQueue } from "../../src/queues/define-queue.ts";
import { runs } from "../../src/queues/runs.ts";
import { shardFor, shardsOf } from "../../src/queues/shards.ts";
import type { StepName } from "../../src/reconcile/parts.ts";
import { Reconciler } from "../../src/reconcile/reconcile.ts";
import { sweepSteps } from "../../src/reconcile/steps.ts";
import { runTurn } from "../../src/reconcile/turn.ts";
import { settledId } from "../../src/store/runs/settled-runs.ts";
import { readSweepProgress, unitsOf, writeSweepProgress } from "../../src/store/sweeps/sweep-turns.ts";
import { storeSource } from "../sources/source-row.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { shardedEnv } from "../support/shards.ts";

const COUNT = 60;

describe("parts of the reconciler's steps", () => {
  let platform: TestPlatform;
  beforeEach(async () => {
    platform = await openTestPlatform(await shardedEnv({ runs: 3, deliveries: 2 }));
  });
  afterEach(() => platform.destroy());

  /** Runs a turn of each part of a step; returns how many items each repaired. */
  async function sweepParts(name: StepName): Promise<number[]> {
    const counts: number[] = [];
    for (const unit of unitsOf(sweepSteps(platform).filter(step => step.name === name))) {
      let repaired = 0;
      await runTurn(platform, unit, {
        budgetMs: Number.POSITIVE_INFINITY,
        mustEnd: () => false,
        onRepaired: count => {
          repaired += count;
        },
      });
      counts.push(repaired);
    }
    return counts;
  }

  const queue = () => openedQueue(platform.queues, runs);
  const upTo = (n: number) => Array.from({ length: n }, (_, i) => i);

  const fixtures: Partial<Record<StepName, () => Promise<unknown>>> = {
    timers: async () => {
      for (const _ of upTo(COUNT)) {
        await storeSource(platform, { timer: { cron: null, timezone: null, interval_seconds: 3600 } });
      }
    },
    schedulers: async () => {
      for (const _ of upTo(COUNT)) {
        const id = newId("dc");
        await shardFor(queue(), id).upsertJobScheduler(id, { every: 3_600_000 }, { name: "tick" });
      }
    },
    run_queues: async () => {
      for (const _ of upTo(COUNT)) {
        const id = newId("dc");
        await platform.redis.rpush(platform.keys.runQueue(id), "{}");
        await platform.redis.zadd(platform.keys.sourcesWithRuns(), 1, id);
      }
    },
    settled: async () => {
      for (const _ of upTo(COUNT)) {
        const id = newId("dc");
        const text = '0 {"records":[],"outbox":[]}';
        await platform.redis.hset(platform.keys.settledRuns(id), settledId(1, "run_1"), text);
        await platform.redis.zadd(platform.keys.sourcesWithRuns(), 1, id);
      }
    },
    deliveries: async () => {
      const event = { id: newId("emit"), event_id: `${Date.now()}-0`, emitter_id: newId("p"), name: "" };
      const listener = { subscriptionId: newId("sub"), webhookId: newId("wh"), ownerId: newId("u") };
      const delivery = newDelivery(platform, event, listener, null);
      // Long overdue: what is due about now may be due in the drain that the sweep of the other part enqueues.
      const due = { next_attempt_at_ms: Date.now() - 60_000, sweep_at_ms: 1 };
      const rows = upTo(COUNT).map(() => ({ ...delivery, ...due, _id: newId("dlv") }));
      await Deliveries(platform.mongo).insertMany(rows);
    },
  };
  for (const [name, store] of Object.entries(fixtures) as [StepName, () => Promise<unknown>][]) {
    it(`find everything once, each its own: ${name}`, async () => {
      await store();
      const counts = await sweepParts(name);
      expect(counts).to.have.length(name === "deliveries" ? 2 : 3);
      expect(counts.reduce((sum, count) => sum + count, 0)).to.equal(COUNT);
      // A part of a third holds none of 60 once in 10^10 times.
      expect(
        counts.every(count => count > 0),
        counts.join(),
      ).to.equal(true);
    });
  }

  it("set a timer again that is overdue, whichever shard it is on", async () => {
    await fixtures.timers?.();
    await sweepParts("timers");
    const overdue = Date.now() - 600_000;
    for (const shard of shardsOf(queue())) {
      for (const id of await platform.redis.zrangebyscore(shard.toKey("repeat"), "-inf", "+inf")) {
        await platform.redis.zadd(shard.toKey("repeat"), overdue, id);
      }
    }
    const counts = await sweepParts("timers");
    expect(counts.reduce((sum, count) => sum + count, 0)).to.equal(COUNT);
    expect(await Sources(platform.mongo).countDocuments()).to.equal(COUNT);
  });

  it("are one where a queue has one shard, so that their progress is that of releases before", async () => {
    const small = await openTestPlatform();
    const names = unitsOf(sweepSteps(small)).map(({ name }) => name);
    expect(names).to.deep.equal(sweepSteps(small).map(({ name }) => name));
    await small.destroy();
  });

  it("show in the metrics how long the one has waited that waits for the longest", async () => {
    const reconciler = new Reconciler(platform);
    await reconciler.round();
    await reconciler.stop();
    const progress = (await readSweepProgress(platform)).get("timers 2/3");
    const old = { cursor: null, ended_at_ms: null, ...progress, at_ms: platform.clock() - 500_000 };
    await writeSweepProgress(platform, "timers 2/3", old);
    collectInstallation(platform);
    const { body } = await platform.metrics.expose();
    const age = (step: string) =>
      Number(
        new RegExp(`headwater_sweep_age_seconds\\{[^}]*step="${step}"[^}]*\\} (\\S+)`).exec(
          String(body),
        )?.[1],
      );
    expect(age("timers")).to.be.within(500, 600);
    expect(age("schedulers")).to.be.within(0, 100);
  });
});
