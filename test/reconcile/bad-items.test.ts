import { expect } from "chai";
import { createUser } from "../../src/accounts/users.ts";
import { raiseAlert } from "../../src/alerts/raise.ts";
import { newDelivery } from "../../src/deliveries/dispatch/create.ts";
import { newId } from "../../src/lib/ids.ts";
import { AcceptedWork } from "../../src/models/accepted.ts";
import { Alerts } from "../../src/models/alert.ts";
import { Deliveries } from "../../src/models/delivery.ts";
import { StoredEvents } from "../../src/models/event.ts";
import { RunRecords } from "../../src/models/run.ts";
import { openedQueue } from "../../src/queues/define-queue.ts";
import { deliveries } from "../../src/queues/deliveries.ts";
import { runs } from "../../src/queues/runs.ts";
import { STEP_NAMES } from "../../src/reconcile/parts.ts";
import { settledId } from "../../src/store/runs/settled-runs.ts";
import { listSetAside } from "../../src/store/sweeps/set-aside.ts";
import { storeEvent } from "../deliveries/fixtures.ts";
import { storeRecovery, storeReplay } from "../deliveries/long-rows.ts";
import { storeSource } from "../sources/source-row.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { sweepAll } from "../support/sweep.ts";

/** BullMQ rejects it in the id of a job. */
const BAD = "bad:id";

/** Here there is nothing for one, and the others repair nothing. */
const FINDS_NOTHING: string[] = [
  "schedulers",
  "silent_emitters",
  "failovers",
  "functions",
  "alerts",
  "issues",
  "mcp_subscriptions",
];

describe("an item that can't be repaired", () => {
  let platform: TestPlatform;
  let aheadMs: number;
  beforeEach(async () => {
    aheadMs = 120_000;
    platform = await openTestPlatform({}, { clock: () => Date.now() + aheadMs });
  });
  afterEach(() => platform.destroy());

  async function storeOutbox(source_id = newId("dc")): Promise<string> {
    const _id = newId("run");
    await RunRecords(platform.mongo).insertOne({
      _id,
      source_id,
      owner_id: "u_1",
      kind: "http",
      outcome: "ok",
      duration_ms: 1,
      emitted: 1,
      dropped: {},
      outbox: [JSON.stringify({ emitter_id: source_id, emit_id: _id, event: 1 })],
      finished_at: new Date(0),
      expires_at: new Date(Date.now() + 3_600_000),
    });
    return _id;
  }

  /** A source whose newest score can't be read, so that none can be reserved. */
  async function badSource(): Promise<string> {
    const { _id } = await storeSource(platform);
    await platform.redis.hset(platform.keys.lastEventScore(_id), "not", "a number");
    return _id;
  }

  async function storeDelivery(_id: string): Promise<void> {
    const event = { id: newId("emit"), event_id: `${Date.now()}-0`, emitter_id: newId("p"), name: "" };
    const listener = {
      subscriptionId: newId("sub"),
      webhookId: _id === BAD ? BAD : newId("wh"),
      ownerId: newId("u"),
    };
    const delivery = newDelivery(platform, event, listener, null);
    await Deliveries(platform.mongo).insertOne({ ...delivery, _id, sweep_at_ms: 1 });
  }

  async function storeDispatch(listeners: unknown): Promise<string> {
    const { _id } = await storeEvent(platform);
    const pending_dispatch = { job_id: newId("ch"), sweep_at_ms: 1, listeners };
    await StoredEvents(platform.mongo).updateOne({ _id }, { $set: { pending_dispatch } });
    return _id;
  }

  async function stallRuns(sourceId: string): Promise<void> {
    await platform.redis.rpush(platform.keys.runQueue(sourceId), "{}");
    await platform.redis.zadd(platform.keys.sourcesWithRuns(), 1, sourceId);
  }

  async function storeSettled(text: string): Promise<void> {
    const sourceId = newId("dc");
    await platform.redis.hset(platform.keys.settledRuns(sourceId), settledId(1, "run_1"), text);
    await platform.redis.zadd(platform.keys.sourcesWithRuns(), 1, sourceId);
  }

  async function storeAccepted(body: string): Promise<void> {
    const [_id, check_at] = [newId("emit"), new Date(1)];
    await AcceptedWork(platform.mongo).insertMany([
      { _id, kind: "emissions", owner_id: "u_1", body, at_ms: 1, check_at },
    ]);
  }

  /** Raises an alert of a new account; returns the account. */
  async function storeAlert(): Promise<string> {
    const { id: ownerId } = await createUser(platform, { email: `${newId("u")}@example.test` });
    await raiseAlert(platform, { ownerId, type: "quota.100", subject: null, sinceMs: 1, message: "used up" });
    return ownerId;
  }

  /** One bad item, which comes first, and a good one, in each step that may meet a bad one. */
  async function storeEverything() {
    const timer = { timezone: null, cron: null, interval_seconds: 3600 };
    const old = { state: "deleting", active: false, updated_at: 1 } as const;
    await storeOutbox(await badSource());
    await storeOutbox();
    await storeDelivery(BAD);
    await storeDelivery(newId("dlv"));
    await storeDispatch("not a list");
    await storeDispatch([[newId("sub"), newId("wh"), newId("u")]]);
    await stallRuns("dc_1");
    await stallRuns(newId("dc"));
    await storeSource(platform, { _id: "dc_0", timer: { ...timer, cron: "of an older version" } });
    await storeSource(platform, { timer });
    await storeSource(platform, { ...old, _id: "dc_1" });
    await storeSource(platform, old);
    // Redis rejects to read a list of this type.
    await platform.redis.set(platform.keys.changeQueue("dc_1"), "not a list");
    await storeSource(platform, { state: "deploying", updated_at: 1 });
    await storeSource(platform, { _id: "dc_2", begun: { run_id: "run_1", stage: "activating", at_ms: 1 } });
    await platform.redis.set(platform.keys.changeQueue("dc_2"), "not a list");
    await storeSource(platform, { begun: { run_id: "run_2", stage: "activating", at_ms: 1 } });
    for (const text of ["0 not JSON", '0 {"records":[],"outbox":[]}']) await storeSettled(text);
    for (const id of [BAD, newId("rpl")]) await storeReplay(platform, id);
    for (const id of [BAD, newId("wh")]) await storeRecovery(platform, id);
    for (const body of ["not JSON", '{"emitter_id":"dc_0000000000000000","emit_id":"1","event":1}'])
      await storeAccepted(body);
    const bad = { owner_id: await storeAlert() };
    await Alerts(platform.mongo).collection.updateOne(bad, { $set: { owner_id: 5 } });
    await storeAlert();
  }

  it("ends no step: it is set aside, visibly, and everything else is repaired", async () => {
    await storeEverything();
    const repaired = await sweepAll(platform);
    expect(repaired).to.deep.equal(
      Object.fromEntries(STEP_NAMES.map(name => [name, FINDS_NOTHING.includes(name) ? 0 : 1])),
    );
    const aside = await listSetAside(platform);
    expect(aside.map(({ step }) => step)).to.have.members([
      "run_queues",
      "outboxes",
      "settled",
      "dispatches",
      "deliveries",
      "timers",
      "deleting",
      "changes",
      "replays",
      "recoveries",
      "accepted",
      "silent_emitters",
      "alerts",
    ]);
    expect(aside.every(({ count, error }) => count === 1 && error !== "")).to.equal(true);
    expect(await openedQueue(platform.queues, runs).getJobSchedulersCount()).to.equal(1);
    const jobs = await openedQueue(platform.queues, deliveries).getJobs(["waiting", "delayed"]);
    expect(jobs.map(({ name }) => name)).to.have.members(["drain", "first-attempts", "replay", "recover"]);
  });

  it("is tried again once it is due, and no longer set aside once it is repaired", async () => {
    const source = await badSource();
    const run = await storeOutbox(source);
    await sweepAll(platform);
    await sweepAll(platform);
    const aside = async () =>
      (await listSetAside(platform))
        .filter(({ step }) => step === "outboxes")
        .map(({ item, count }) => [item, count]);
    expect(await aside()).to.deep.equal([[run, 1]]);
    aheadMs += 61_000;
    await sweepAll(platform);
    expect(await aside()).to.deep.equal([[run, 2]]);
    await platform.redis.del(platform.keys.lastEventScore(source));
    aheadMs += 121_000;
    expect(await sweepAll(platform)).to.include({ outboxes: 1 });
    expect(await aside()).to.deep.equal([]);
  });
});
