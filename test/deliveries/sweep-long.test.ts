import { expect } from "chai";
import { checkReplays } from "../../src/cli/doctor/records.ts";
import { runReplay } from "../../src/deliveries/worker/replay.ts";
import { AppError } from "../../src/lib/errors.ts";
import { newId } from "../../src/lib/ids.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";
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

  it("is failed, with the reason, once its job was given up again and again without a batch in between", async () => {
    const replay = newId("rpl");
    await storeReplay(platform, replay);
    const giveUp = () => platform.redis.hset(queue().toKey(replay), "finishedOn", "1");
    const row = async () => await Replays(platform.mongo).findById(replay).lean();
    expect(await sweep(platform, "replays")).to.equal(1);
    for (let failures = 1; failures < LIMITS.replayFailures.value; failures++) {
      await giveUp();
      expect(await sweep(platform, "replays")).to.equal(1);
      expect(await row()).to.include({ state: "running", failures });
    }
    await giveUp();
    await sweep(platform, "replays");
    const failed = await row();
    expect(failed).to.deep.include({ state: "failed", failures: LIMITS.replayFailures.value });
    expect(failed?.finished_at_ms).to.be.a("number");
    expect(failed?.reason).to.match(/^its job failed 3 times in a row/);
    expect(await sweep(platform, "replays"), "it gets no job any more").to.equal(0);
    expect((await queue().getJob(replay))?.finishedOn).to.be.a("number");
  });

  it("is failed if it is a recovery, too", async () => {
    const webhook = newId("wh");
    await storeRecovery(platform, webhook);
    const row = async () => (await Webhooks(platform.mongo).findById(webhook).lean())?.recovery;
    const jobId = recoverJobId({ webhook_id: webhook, recovery_id: (await row())?.id ?? "" });
    expect(await sweep(platform, "recoveries")).to.equal(1);
    for (let failures = 1; failures <= LIMITS.replayFailures.value; failures++) {
      await platform.redis.hset(queue().toKey(jobId), "finishedOn", "1");
      expect(await sweep(platform, "recoveries")).to.equal(1);
      expect(await row()).to.include({ failures });
    }
    expect(await row()).to.include({ state: "failed" });
    expect((await row())?.finished_at_ms).to.be.a("number");
    expect(await sweep(platform, "recoveries"), "it gets no job any more").to.equal(0);
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

  it("that fails always is failed in the end, which its owner and the operator see", async () => {
    const { mongo, queues } = system.worker;
    const jobs = openedQueue(queues, deliveries);
    const { id: webhook } = await api.createWebhook(receiver.url);
    const { id } = await api.expect(202, "POST", "/replays", { body: { webhook_id: webhook } });
    await until(async () => (await api.expect(200, "GET", `/replays/${id}`)).state === "done");
    await until(async () => (await jobs.getJob(id)) === undefined);
    // A row that no code can read, as after a defect.
    const broken = { state: "running", owners: { no: "list" }, created_at: 1 };
    await Replays(mongo).collection.updateOne({ _id: id as never }, { $set: broken });
    const job = { replay_id: id, account_id: api.userId };
    const error: unknown = await runReplay(system.worker, { job }).catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(Error).and.not.instanceOf(AppError);
    // The retries of one job take minutes.
    const giveUp = async () => {
      const kept = await jobs.getJob(id);
      if (kept && !kept.finishedOn) await system.worker.redis.hset(jobs.toKey(id), "finishedOn", "1");
      return (await api.expect(200, "GET", `/replays/${id}`)).state === "failed";
    };
    await until(giveUp);
    const { reason, finished_at_ms } = await api.expect(200, "GET", `/replays/${id}`);
    expect(reason).to.match(/^its job failed 3 times in a row/);
    expect(reason, "of no concern to its owner").not.to.include("Error");
    expect(finished_at_ms).to.be.a("number");
    const [finding] = await checkReplays(system.worker);
    expect(finding).to.include({ check: "replays", severity: "problem" });
    expect(finding?.message).to.match(new RegExp(`^${id} failed: TypeError: `));
    // It is one of those that run no longer, and its owner starts another.
    await api.expect(202, "POST", "/replays", { body: {} });
  });

  it("is stopped with the reason once what it names is gone", async () => {
    const { id: webhook } = await api.createWebhook(receiver.url);
    const { id } = await api.expect(202, "POST", "/replays", { body: { webhook_id: webhook } });
    await until(async () => (await api.expect(200, "GET", `/replays/${id}`)).state === "done");
    await api.expect(204, "DELETE", `/webhooks/${webhook}`);
    const again = { state: "running" as const, created_at: 32_000_000_000 };
    await Replays(system.worker.mongo).updateOne({ _id: id }, { $set: again });
    await runReplay(system.worker, { job: { replay_id: id, account_id: api.userId } });
    const stopped = await api.expect(200, "GET", `/replays/${id}`);
    expect(stopped).to.include({ state: "stopped", reason: "webhook not found" });
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
