import { expect } from "chai";
import { newId } from "../../src/lib/ids.ts";
import { Deliveries } from "../../src/models/delivery.ts";
import { Replays } from "../../src/models/replay.ts";
import { Webhooks } from "../../src/models/webhook.ts";
import { openedQueue } from "../../src/queues/define-queue.ts";
import { deliveries, recoverJobId, replayJobId } from "../../src/queues/deliveries.ts";
import type { Api } from "../support/api.ts";
import { dropKeys, openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { sweep } from "../support/sweep.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";
import { storeRecovery, storeReplay } from "./long-rows.ts";

describe("a replay or a recovery whose job is lost", () => {
  let platform: TestPlatform;
  const queue = () => openedQueue(platform.queues, deliveries);
  beforeEach(async () => {
    platform = await openTestPlatform();
  });
  afterEach(() => platform.destroy());

  it("gets a job again, once, when all keys of Redis are gone", async () => {
    const [replay, webhook] = [newId("rpl"), newId("wh")];
    await storeReplay(platform, replay);
    await storeRecovery(platform, webhook);
    const both = async () => [await sweep(platform, "replays"), await sweep(platform, "recoveries")];
    expect(await both()).to.deep.equal([1, 1]);
    expect(await both(), "their jobs exist").to.deep.equal([0, 0]);
    await dropKeys(platform);
    expect(await both(), "their jobs are lost").to.deep.equal([1, 1]);
    const { recovery } = (await Webhooks(platform.mongo).findById(webhook).lean()) ?? {};
    const ids = [
      replayJobId({ replay_id: replay }),
      recoverJobId({ webhook_id: webhook, recovery_id: recovery?.id ?? "" }),
    ];
    for (const id of ids) expect((await queue().getJob(id))?.data, id).to.have.property("account_id");
  });

  it("gets one in place of a job that was given up and is kept", async () => {
    const replay = newId("rpl");
    await storeReplay(platform, replay);
    await sweep(platform, "replays");
    await platform.redis.hset(queue().toKey(replay), "finishedOn", "1");
    expect(await sweep(platform, "replays")).to.equal(1);
    expect((await queue().getJob(replay))?.finishedOn).to.equal(undefined);
  });

  it("is left alone while it is young, and once it has ended", async () => {
    const [young, ended] = [newId("rpl"), newId("rpl")];
    await storeReplay(platform, young);
    await storeReplay(platform, ended);
    const now = Math.ceil(Date.now() / 1000);
    await Replays(platform.mongo).updateOne({ _id: young }, { $set: { created_at: now } });
    await Replays(platform.mongo).updateOne({ _id: ended }, { $set: { state: "stopped" } });
    expect(await sweep(platform, "replays")).to.equal(0);
  });
});

describe("a replay on a running system", () => {
  let system: System;
  let receiver: Receiver;
  let api: Api & { userId: string };
  before(async () => {
    system = await startSystem();
    receiver = await startReceiver();
    api = await system.user();
  });
  after(async () => {
    await receiver?.close();
    await system?.stop();
  });

  it("goes on where it was after its job is lost, as does a recovery, without a request", async () => {
    const { id: flow } = await api.expect(201, "POST", "/workflows", { body: { name: "Flow" } });
    const { id: webhook } = await api.createWebhook(receiver.url);
    await api.subscribe(flow, webhook);
    await api.expect(202, "POST", `/workflows/${flow}/events`, {
      body: { events: [{ event: 1 }, { event: 2 }] },
    });
    await until(() => receiver.requests.length === 2);
    const { mongo, queues } = system.worker;
    await until(async () => (await Deliveries(mongo).countDocuments({ state: "delivered" })) === 2);
    const jobs = openedQueue(queues, deliveries);
    // As Redis lost the job in the middle: the replay says that it runs, and nothing else knows of it.
    const { id } = await api.expect(202, "POST", "/replays", { body: {} });
    await until(async () => (await api.expect(200, "GET", `/replays/${id}`)).state === "done");
    await until(async () => (await jobs.getJob(id)) === undefined);
    // Its deliveries are enqueued when it is done, and sent a moment later.
    await until(() => receiver.requests.length === 4);
    await Replays(mongo).updateOne(
      { _id: id },
      { $set: { state: "running", replayed: 0, done_id: "dlv_0000000", finished_at_ms: null } },
    );
    await until(async () => (await api.expect(200, "GET", `/replays/${id}`)).state === "done");
    await until(() => receiver.requests.length === 6);

    await Deliveries(mongo).updateMany({ webhook_id: webhook }, { $set: { state: "failed" } });
    const recovery = {
      id: newId("rec"),
      since_ms: 0,
      state: "running" as const,
      count: 2,
      recovered: 0,
      next_delivery_id: "dlv_0000000",
      started_at_ms: 1,
      finished_at_ms: null,
    };
    await Webhooks(mongo).updateOne({ _id: webhook }, { $set: { recovery } });
    await until(async () => (await api.expect(200, "GET", `/webhooks/${webhook}/recover`)).state === "done");
    await until(() => receiver.requests.length === 8);
  });
});
