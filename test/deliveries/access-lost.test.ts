import { expect } from "chai";
import { addMember, createOrganization, removeMember } from "../../src/accounts/organizations.ts";
import { createUser } from "../../src/accounts/users.ts";
import { createDeliveries } from "../../src/deliveries/dispatch/create.ts";
import { dispatchEvents } from "../../src/deliveries/dispatch/dispatch.ts";
import { retryDelivery } from "../../src/deliveries/manual-retry.ts";
import { readDetail } from "../../src/deliveries/read.ts";
import { startRecovery } from "../../src/deliveries/recover.ts";
import { startReplay } from "../../src/deliveries/replays/replays.ts";
import { openDeliveriesHandler } from "../../src/deliveries/worker/handle-job.ts";
import { recoverFailed } from "../../src/deliveries/worker/recover.ts";
import { runReplay } from "../../src/deliveries/worker/replay.ts";
import { newId } from "../../src/lib/ids.ts";
import { Deliveries, TransformedPayloads } from "../../src/models/delivery.ts";
import type { StoredEvent } from "../../src/models/event.ts";
import { Replays } from "../../src/models/replay.ts";
import { Subscriptions } from "../../src/models/subscription.ts";
import { Workflows } from "../../src/models/workflow.ts";
import { openedQueue } from "../../src/queues/define-queue.ts";
import { deliveries, type FirstAttempts } from "../../src/queues/deliveries.ts";
import { createWebhook } from "../../src/webhooks/webhooks.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { onlyDelivery, runDrain, storeEvent, webhookOf } from "./fixtures.ts";

type Account = "user" | "org" | "other";

/** Who owns emitter and listener, which organization the user leaves, and whether the emitter is deleted before that. */
const CASES: {
  emitter: Account;
  listener: Account;
  leaves: Account;
  isDeleted?: true;
  isRecorded: boolean;
}[] = [
  { emitter: "org", listener: "user", leaves: "org", isRecorded: true },
  { emitter: "user", listener: "org", leaves: "org", isRecorded: false },
  { emitter: "org", listener: "other", leaves: "org", isRecorded: true },
  { emitter: "org", listener: "other", leaves: "other", isRecorded: false },
  { emitter: "org", listener: "user", leaves: "org", isDeleted: true, isRecorded: true },
  { emitter: "user", listener: "org", leaves: "org", isDeleted: true, isRecorded: false },
];

describe("access that a subscription's owner has lost", () => {
  let platform: TestPlatform;
  let receiver: Receiver;
  let accounts: Record<Account, string>;
  let operator: string;
  let emitter: string;
  let webhookId: string;
  let subscriptionId: string;
  before(async () => {
    platform = await openTestPlatform({ DELIVERY_RETRY_SCHEDULE: "1h" }, { process: "deliveries" });
    receiver = await startReceiver(500);
  });
  after(async () => {
    await receiver.close();
    await platform.destroy();
  });

  const user = async () => (await createUser(platform, { email: `${newId("u")}@example.test` })).id;

  async function setUp(owners: { emitter: Account; listener: Account }): Promise<StoredEvent> {
    const member = await user();
    operator = await user();
    const organization = async () => {
      const { id } = await createOrganization(platform, { name: "Org", ownerId: operator });
      await addMember(platform, id, member);
      return id;
    };
    accounts = { user: member, org: await organization(), other: await organization() };
    emitter = newId("p");
    const owner_id = accounts[owners.emitter];
    await Workflows(platform.mongo).insertOne({ _id: emitter, owner_id, name: "emitter", created_at: 0 });
    const listener = { ownerId: accounts[owners.listener], userId: member, url: receiver.url };
    webhookId = (await createWebhook(platform, listener)).id;
    subscriptionId = newId("sub");
    const subscription = { _id: subscriptionId, owner_id: member, user_id: member, filter: null };
    await Subscriptions(platform.mongo).insertOne({
      ...subscription,
      ...{ emitter_id: emitter, listener_id: webhookId, event_name: "", created_at: 0 },
    });
    return await storeEvent(platform, { secret: 1 }, { emitter_id: emitter, owner_id });
  }

  const listener = () => ({ subscriptionId, webhookId, ownerId: accounts.user });
  const deliver = (event: StoredEvent) => createDeliveries(platform, { event, listeners: [listener()] });
  async function deleteEmitter(): Promise<void> {
    await Workflows(platform.mongo).deleteOne({ _id: emitter });
    await Subscriptions(platform.mongo).deleteOne({ _id: subscriptionId });
  }
  const leave = (which: Account) =>
    removeMember(platform, { orgId: accounts[which], userId: accounts.user, callerId: accounts.user });
  const delivery = () => onlyDelivery(platform, webhookId);
  const attempt = () => runDrain(platform, webhookId);
  const fail = () =>
    Deliveries(platform.mongo).updateMany(
      { webhook_id: webhookId },
      { $set: { state: "failed", reason: "exhausted", next_attempt_at_ms: null, sweep_at_ms: null } },
    );
  const recover = async () => {
    const { id } = await startRecovery(platform, await webhookOf(platform, webhookId), 0);
    return await recoverFailed(platform, { job: { webhook_id: webhookId, recovery_id: id } });
  };
  const replay = async () => {
    const owner = (await webhookOf(platform, webhookId)).owner_id;
    const { _id } = await startReplay(platform, { owner, owners: [owner], where: "body" }, {});
    await runReplay(platform, { job: { replay_id: _id, account_id: owner } });
    return await Replays(platform.mongo).findById(_id).lean();
  };

  for (const { isRecorded, ...one } of CASES) {
    const { emitter: from, listener: to, leaves, isDeleted } = one;
    const whose = (account: Account) => (account === "user" ? "own" : `${account}'s`);
    const what = `${whose(from)} ${isDeleted ? "deleted " : ""}emitter, ${whose(to)} webhook, and leaving ${leaves}`;

    it(`ends an automatic retry: ${what}`, async () => {
      await deliver(await setUp(one));
      if (isDeleted) await deleteEmitter();
      expect(await attempt(), "while a member").to.include({ retry: 1 });
      const dueNow = { state: "pending", next_attempt_at_ms: 1 };
      await Deliveries(platform.mongo).updateMany({ webhook_id: webhookId }, { $set: dueNow });
      receiver.requests.splice(0);
      await leave(leaves);
      expect(await attempt()).to.include({ ended: 1 });
      expect(await delivery()).to.include({ state: "cancelled", reason: "access-lost" });
      expect(receiver.requests).to.deep.equal([]);
    });

    it(`rejects a manual retry, and is skipped by recover and replay: ${what}`, async () => {
      await deliver(await setUp(one));
      if (isDeleted) await deleteEmitter();
      await fail();
      expect(await recover(), "while a member").to.include({ recovered: 1 });
      await fail();
      expect(await replay(), "while a member").to.include({ replayed: isDeleted ? 0 : 1 });
      await retryDelivery(platform, await delivery());
      await fail();
      await leave(leaves);
      const error = await retryDelivery(platform, await delivery()).catch((thrown: unknown) => thrown);
      expect(error).to.include({ code: "conflict" });
      expect((error as Error).message).to.match(/^the owner of the subscription can no longer access the /);
      expect(await recover()).to.include({ recovered: 0 });
      expect(await replay()).to.include({ replayed: 0, skipped: 1, state: "done" });
      expect(await delivery()).to.include({ state: "failed" });
    });

    if (isDeleted) continue;
    it(`sends no first attempt that is on its way: ${what}`, async () => {
      const event = { ...(await setUp(one)), _id: newId("emit") };
      const to = { _id: subscriptionId, listener_id: webhookId, owner_id: accounts.user };
      await dispatchEvents(platform, [{ event, listeners: [to], isRedispatch: false }]);
      await leave(leaves);
      receiver.requests.splice(0);
      const jobs = await openedQueue(platform.queues, deliveries).getJobs(["waiting", "prioritized"]);
      const job = jobs
        .map(({ data }) => data as FirstAttempts)
        .find(({ events }) => events?.[0]?.id === event._id);
      const handler = openDeliveriesHandler(platform, {});
      const context = { job, attemptsStarted: 1, signal: new AbortController().signal };
      const fields = await handler.handlers["first-attempts"](context as never);
      await handler.close(0);
      expect(fields).to.include({ attempts: 0, unsent: 1 });
      expect(receiver.requests).to.deep.equal([]);
      const rows = await Deliveries(platform.mongo).find({ webhook_id: webhookId }).lean();
      const reasons = rows.map(({ state, reason }) => [state, reason]);
      expect(reasons).to.deep.equal(isRecorded ? [["cancelled", "access-lost"]] : []);
    });
  }

  it("hides the event of a delivery, and what a function made of it", async () => {
    await deliver(await setUp({ emitter: "org", listener: "user" }));
    const { _id, emit_id } = await delivery();
    const transformed = { _id, emit_id, body: '{"secret":2}', created_at: new Date() };
    await TransformedPayloads(platform.mongo).insertMany([transformed]);
    const readBy = async (owners: string[], isExpanded = true) =>
      await readDetail(platform, await delivery(), { owners, isExpanded });
    const member = await readBy([accounts.user, accounts.org]);
    const shown = JSON.parse(JSON.stringify(member));
    expect(shown).to.deep.include({ event: { secret: 1 }, transformed_event: { secret: 2 } });
    const left = await readBy([accounts.user, accounts.other]);
    expect(left).to.include({ id: _id });
    expect(JSON.stringify(left)).not.to.include('secret":');
  });

  it("takes the texts of an organization out of a replay's search", async () => {
    await setUp({ emitter: "org", listener: "user" });
    const scope = { owner: accounts.user, owners: [accounts.user, accounts.org], where: "body" as const };
    const { _id } = await startReplay(platform, scope, { emitter_id: emitter });
    await leave("org");
    await runReplay(platform, { job: { replay_id: _id, account_id: accounts.user } });
    expect(await Replays(platform.mongo).findById(_id).lean()).to.include({
      state: "stopped",
      reason: "emitter not found",
    });
  });
});
