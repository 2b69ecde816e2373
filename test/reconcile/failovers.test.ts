import { expect } from "chai";
import { newId } from "../../src/lib/ids.ts";
import { AcceptedWork } from "../../src/models/accepted.ts";
import { Deliveries } from "../../src/models/delivery.ts";
import { StoredEvents } from "../../src/models/event.ts";
import { enqueueAll, openedQueue, type QueueDeclaration } from "../../src/queues/define-queue.ts";
import { deliveries } from "../../src/queues/deliveries.ts";
import { type EmissionsJob, emissions } from "../../src/queues/emissions.ts";
import { beginFailoverSweep } from "../../src/reconcile/failovers.ts";
import type { StepName } from "../../src/reconcile/parts.ts";
import { EMITTER, emit, OWNER, storeEvent, subscribe } from "../deliveries/fixtures.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { sweep } from "../support/sweep.ts";

const HOUR_MS = 3_600_000;

describe("the sweep after a failover of Redis", () => {
  let platform: TestPlatform;
  let now: number;
  beforeEach(async () => {
    now = Date.now();
    platform = await openTestPlatform({}, { process: "runs", clock: () => now });
    await sweep(platform, "failovers");
  });
  afterEach(() => platform.destroy());

  /** As a master has it that lost everything. */
  async function loseJobs(queue: QueueDeclaration): Promise<void> {
    await openedQueue(platform.queues, queue).obliterate({ force: true });
    await platform.redis.del(platform.keys.knownMasters());
  }

  async function addDelivery(): Promise<void> {
    await emit(platform, [await subscribe(platform, "http://127.0.0.1:1/")]);
  }

  async function addDispatch(): Promise<void> {
    const { webhookId, subscriptionId } = await subscribe(platform, "http://127.0.0.1:1/");
    const { _id, event_id } = await storeEvent(platform);
    const listeners: [string, string, string][] = [[subscriptionId, webhookId, OWNER]];
    const job_id = newId("ch");
    const job = { job_id, events: [{ id: _id, event_id, emitter_id: EMITTER, name: "", listeners }] };
    await enqueueAll(platform.queues, deliveries.jobs["first-attempts"], [job]);
    const pending_dispatch = { job_id, sweep_at_ms: now, listeners, webhook_ids: [] };
    await StoredEvents(platform.mongo).updateOne({ _id }, { $set: { pending_dispatch } });
  }

  async function addAccepted(): Promise<void> {
    const job = { emitter_id: EMITTER, emit_id: newId("emit"), event: 1, name: newId("emit") };
    const body = { ...job, account_id: OWNER } as unknown as EmissionsJob;
    await enqueueAll(platform.queues, emissions.jobs.emissions, [body]);
    const [queued] = await openedQueue(platform.queues, emissions).getJobs(["waiting", "prioritized"]);
    const row = { kind: "emissions" as const, owner_id: OWNER, body: JSON.stringify(body), at_ms: now };
    await AcceptedWork(platform.mongo).insertMany([
      { ...row, _id: queued?.id ?? "", check_at: new Date(now) },
    ]);
  }

  const cases: [StepName, QueueDeclaration, () => Promise<void>][] = [
    ["deliveries", deliveries, addDelivery],
    ["dispatches", deliveries, addDispatch],
    ["accepted", emissions, addAccepted],
  ];
  for (const [step, queue, add] of cases) {
    it(`finds at once what was put off and has lost its job since: ${step}`, async () => {
      await add();
      now += HOUR_MS;
      expect(await sweep(platform, step), "its job waits").to.equal(0);
      now += 60_000;
      await loseJobs(queue);
      expect(await sweep(platform, step), "put off").to.equal(0);
      await sweep(platform, "failovers");
      expect(await sweep(platform, step)).to.equal(1);
    });
  }

  it("looks once, and then no more until there are other masters", async () => {
    const putOff = async () => {
      const to_ms = now + 600_000;
      const change = { sweep_at_ms: to_ms, put_off: { at_ms: now - 1, to_ms } };
      await Deliveries(platform.mongo).updateOne({}, { $set: change });
    };
    const isDue = async () => {
      await putOff();
      await sweep(platform, "failovers");
      return (await Deliveries(platform.mongo).findOne({}).lean())?.sweep_at_ms === now;
    };
    await addDelivery();
    now += HOUR_MS;
    expect(await isDue(), "the same masters").to.equal(false);
    await platform.redis.del(platform.keys.knownMasters());
    expect(await isDue()).to.equal(true);
    now += 1000;
    expect(await isDue()).to.equal(false);
  });

  it("leaves alone what waits for a moment of its own", async () => {
    await addDelivery();
    now += HOUR_MS;
    await sweep(platform, "deliveries");
    // As an attempt that is under way.
    const until = now + 60_000;
    await Deliveries(platform.mongo).updateOne({}, { $set: { sweep_at_ms: until } });
    await loseJobs(deliveries);
    await sweep(platform, "failovers");
    expect((await Deliveries(platform.mongo).findOne({}).lean())?.sweep_at_ms).to.equal(until);
  });

  it("goes on where another process stopped, and goes through more than one batch", async () => {
    await platform.redis.del(platform.keys.knownMasters());
    const rows = Array.from({ length: 5001 }, (_, n) => ({ n, to_ms: now + 1000 + n }));
    await addDelivery();
    const { _id: _, ...delivery } = (await Deliveries(platform.mongo).findOne({}).lean()) ?? { _id: "" };
    await Deliveries(platform.mongo).collection.insertMany(
      rows.map(({ n, to_ms }) => ({
        ...delivery,
        _id: `dlv_${n}`,
        sweep_at_ms: to_ms,
        put_off: { at_ms: now - 1, to_ms },
      })) as never[],
    );
    let cursor: string | null = null;
    let batches = 0;
    do {
      ({ next: cursor } = await beginFailoverSweep(platform)(cursor));
      batches += 1;
    } while (cursor !== null);
    // Two of deliveries, one each of the two others, and the note of the masters.
    expect(batches).to.equal(5);
    expect(await Deliveries(platform.mongo).countDocuments({ sweep_at_ms: now })).to.equal(5001);
  });
});
