import { expect } from "chai";
import { emit, emitAll } from "../../src/events/emit.ts";
import { readSummaries } from "../../src/events/read.ts";
import { eventScore, newId } from "../../src/lib/ids.ts";
import { Deliveries } from "../../src/models/delivery.ts";
import { StoredEvents, storedEventId } from "../../src/models/event.ts";
import { Subscriptions } from "../../src/models/subscription.ts";
import { Workflows } from "../../src/models/workflow.ts";
import { openedQueue } from "../../src/queues/define-queue.ts";
import { deliveries } from "../../src/queues/deliveries.ts";
import type { Emission } from "../../src/queues/emissions.ts";
import { workflowEvents } from "../../src/queues/workflow-events.ts";
import { readDrops } from "../../src/store/events/drops.ts";
import { noteDeleted } from "../../src/store/gone.ts";
import type { EventStream } from "../../src/store/keys.ts";
import { createWebhook } from "../../src/webhooks/webhooks.ts";
import { start as startDeliveries } from "../../workers/deliveries.ts";
import { rejection } from "../components/rejection.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";

/** Created so long ago that every read finds it. */
const OLD = Date.now() - 120_000;

describe("an emission", () => {
  let platform: TestPlatform;
  let receiver: Receiver;
  before(async () => {
    platform = await openTestPlatform();
    receiver = await startReceiver();
  });
  after(async () => {
    await receiver.close();
    await platform.destroy();
  });

  /** Creates a workflow of a new account, with a webhook subscribed to its channel. */
  async function emitter(channel = "", filter: string | null = null, id = newId("p")) {
    const owner = newId("u");
    await Workflows(platform.mongo).insertOne({ _id: id, owner_id: owner, name: "flow", created_at: 0 });
    const webhook = await createWebhook(platform, {
      ownerId: owner,
      userId: owner,
      url: `${receiver.url}/${id}`,
    });
    await Subscriptions(platform.mongo).insertOne({
      _id: newId("sub"),
      owner_id: owner,
      user_id: owner,
      emitter_id: id,
      listener_id: webhook.id,
      event_name: channel,
      filter,
      created_at: 0,
    });
    return { id, owner, webhook: webhook.id };
  }

  const job = (emitterId: string, more: Partial<Emission> = {}): Emission => ({
    emitter_id: emitterId,
    emit_id: newId("emit"),
    event: { hello: "world" },
    ...more,
  });
  const rows = async (id: string, stream: EventStream = "emits", expand = false) =>
    (await readSummaries(platform, id, stream, { limit: 100, expand })).rows.map(row => ({
      ...row,
      event: row.event.value as { raw_event?: unknown },
    }));

  /** Makes Redis forget the emit ids of an emitter, as it does once many more came or a day has passed. */
  const forgetEmits = (id: string) =>
    platform.redis.del(platform.keys.seenEmits(id), platform.keys.recentEmits(id));

  it("published under a caller's id is known for as long as events are kept, whoever received it", async () => {
    const { id, owner } = await emitter("other");
    const listener = newId("p");
    await Workflows(platform.mongo).insertOne({
      _id: listener,
      owner_id: owner,
      name: "flow",
      created_at: 0,
    });
    const subscription = {
      _id: newId("sub"),
      owner_id: owner,
      user_id: owner,
      event_name: "",
      created_at: 0,
    };
    await Subscriptions(platform.mongo).insertOne({
      ...subscription,
      emitter_id: id,
      listener_id: listener,
      filter: null,
    });
    const queue = openedQueue(platform.queues, workflowEvents);
    const requested = (atMs: number) => job(id, { emit_id: "order-1", requested_at_ms: atMs });
    const now = platform.clock();
    const first = await emit(platform, requested(now));
    expect(first.listeners).to.equal(1);
    const [{ id: jobId = "" } = {}] = await queue.getJobs(["waiting"]);
    await queue.remove(jobId);
    await forgetEmits(id);
    const again = await emit(platform, requested(now + 60_000));
    expect(again).to.deep.equal({ ...first, listeners: 0 });
    expect(await rows(id)).to.have.length(1);
    expect(await queue.getJob(jobId), "handed to its listener again").to.equal(undefined);
    await emit(platform, requested(now));
    expect(await queue.getJob(jobId), "the first request's own job, repeated").not.to.equal(undefined);
    await queue.remove(jobId);
    expect(await emitAll(platform, [job(id), requested(now + 60_000), job(id)])).to.have.length(3);
    expect((await emitAll(platform, [job(id), requested(now + 60_000)]))[1]).to.deep.include({
      event_id: first.event_id,
    });
  });

  it("published under a caller's id is kept although its summary is trimmed", async () => {
    const { id } = await emitter("other");
    const now = platform.clock();
    const emission = job(id, { emit_id: "order-1", requested_at_ms: now, event: "x".repeat(2000) });
    const first = await emit(platform, emission);
    for (let n = 0; n < 100; n++) await emit(platform, job(id));
    await forgetEmits(id);
    expect((await emit(platform, { ...emission, requested_at_ms: now + 60_000 })).event_id).to.equal(
      first.event_id,
    );
  });

  it("gets one event id, one summary and one delivery, however often it is handled", async () => {
    const { id } = await emitter();
    const emission = job(id, { summary: "a line" });
    const outcomes = await Promise.all(Array.from({ length: 5 }, () => emit(platform, emission)));
    expect(new Set(outcomes.map(outcome => outcome.event_id)).size).to.equal(1);
    expect(outcomes[0]).to.include({ emitter_id: id, emit_id: emission.emit_id, channel: "", listeners: 1 });
    const [row, ...others] = await rows(id);
    expect(others).to.deep.equal([]);
    expect(row).to.deep.include({
      id: outcomes[0]?.event_id,
      event: { raw_event: { hello: "world" } },
      metadata: { emit_id: emission.emit_id, name: "", emitter_id: id, summary: "a line" },
    });
    expect(await StoredEvents(platform.mongo).countDocuments({ emitter_id: id })).to.equal(1);
    const worker = startDeliveries(platform);
    await until(
      async () =>
        (await openedQueue(platform.queues, deliveries).getJobCountByTypes("waiting", "active")) === 0,
    );
    await worker.close(3000);
    expect(await Deliveries(platform.mongo).countDocuments({ emitter_id: id })).to.equal(1);
    expect(new Set(receiver.requests.map(({ headers }) => headers["webhook-id"])).size).to.equal(1);
  });

  it("does not share data with an emission of another emitter under the same emit id", async () => {
    const [mine, theirs] = [await emitter(), await emitter()];
    const secret = "x".repeat(2000);
    await emit(platform, job(theirs.id, { emit_id: "order-1", event: { secret } }));
    const outcome = await emit(
      platform,
      job(mine.id, { emit_id: "order-1", event: { mine: "y".repeat(2000) } }),
    );
    expect(outcome).to.include({ emit_id: "order-1", listeners: 1 });
    const [row] = await rows(mine.id, "emits", true);
    expect(row?.event).to.deep.equal({ raw_event: { mine: "y".repeat(2000) } });
    expect(row?.metadata).to.deep.equal({ emit_id: "order-1", name: "", emitter_id: mine.id });

    const worker = startDeliveries(platform);
    try {
      const received = (id: string) => receiver.requests.find(request => request.path.endsWith(id))?.raw;
      await until(() => received(mine.id) && received(theirs.id), { what: "both deliveries" });
      expect(JSON.parse(received(mine.id) ?? "")).to.deep.equal({ mine: "y".repeat(2000) });
      expect(JSON.parse(received(theirs.id) ?? "")).to.deep.equal({ secret });
    } finally {
      await worker.close(3000);
    }
  });

  const values: [string, unknown][] = [
    ["null", null],
    ["a text", "text"],
    ["a number", 0],
    ["false", false],
    ["a list", [1, [2]]],
    ["an empty object", {}],
    ["an object with unusual names", { "a.b": 1, $set: 2, "": 3, ["__proto__"]: 4 }],
  ];
  for (const [what, event] of values) {
    it(`of ${what} is stored unchanged`, async () => {
      const { id } = await emitter();
      await emit(platform, job(id, { event: JSON.parse(JSON.stringify(event)) }));
      const [row] = await rows(id);
      expect(JSON.stringify(row?.event)).to.equal(JSON.stringify({ raw_event: event }));
      const stored = await StoredEvents(platform.mongo).findOne({ emitter_id: id }).lean();
      expect(stored?.event).to.equal(JSON.stringify(event));
    });
  }

  it("is stored in the stream of its channel", async () => {
    const { id } = await emitter("news");
    const error = { original_event: { a: 1 }, original_context: {}, error: { code: "E" } };
    await emit(platform, job(id, { name: "news", event: "told" }));
    await emit(platform, job(id, { name: "$errors", event: error }));
    await emit(platform, job(id, { name: "$logs", event: { level: "info", message: "m", ts: 1 } }));
    await emit(platform, job(id, { name: "$errors", event: "no object" }));
    expect((await rows(id)).map(({ metadata }) => metadata.name)).to.deep.equal(["news"]);
    expect((await rows(id, "errors")).map(({ event }) => event)).to.deep.equal([
      { raw_event: "no object" },
      error,
    ]);
    expect((await rows(id, "logs"))[0]?.event).to.include({ message: "m" });
    expect(await StoredEvents(platform.mongo).countDocuments({ emitter_id: id })).to.equal(1);
  });

  it("is counted as dropped once if it has no listener, or is filtered out", async () => {
    const { id } = await emitter("other");
    const emission = job(id);
    for (let times = 0; times < 3; times += 1) await emit(platform, emission);
    expect(await readDrops(platform, id)).to.deep.equal({ "no-listener": 1 });
    const filtering = await emitter("", '{"hello":"moon"}');
    await emit(platform, job(filtering.id));
    expect(await readDrops(platform, filtering.id)).to.deep.equal({ filtered: 1 });
    expect(await StoredEvents(platform.mongo).countDocuments({ emitter_id: filtering.id })).to.equal(0);
  });

  it("over 1 KB is stored whole beside its summary, and deleted with it", async () => {
    const { id } = await emitter("unused channel");
    const large = { text: "ü".repeat(5000) };
    await emit(platform, job(id, { event: large }));
    expect((await rows(id))[0]?.metadata.truncated).to.equal(true);
    expect((await rows(id, "emits", true))[0]).to.deep.include({ event: { raw_event: large } });
    expect(await readDrops(platform, id)).to.include({ truncated: 1 });
    for (let n = 0; n < 100; n += 1) await emit(platform, job(id, { event: n }));
    expect(await rows(id)).to.have.length(100);
    await until(async () => (await StoredEvents(platform.mongo).countDocuments({ emitter_id: id })) === 0);
  });

  it("is the same event when published again, even if Redis no longer knows its emit id", async () => {
    const { id } = await emitter();
    const jobs = () => openedQueue(platform.queues, deliveries).getJobCountByTypes("waiting");
    for (const emit_id of ["order-9", newId("emit", Date.now() - 3_600_000)]) {
      await emit(platform, job(id, { emit_id }));
      const before = await jobs();
      await platform.redis.del(platform.keys.seenEmits(id));
      const { event_id: repeatedId } = await emit(platform, job(id, { emit_id }));
      expect(await jobs(), emit_id).to.equal(before);
      const stored = await StoredEvents(platform.mongo).find({ _id: storedEventId(id, emit_id) });
      expect(stored.map(({ event_id }) => event_id)).to.deep.equal([repeatedId]);
    }
  });

  it("is the same event if a failover has lost what Redis knew of it, however young it is", async () => {
    let nowMs = Date.now() - 60_000;
    const failedOver = await openTestPlatform({}, { clock: () => nowMs });
    try {
      nowMs += 60_000;
      const { id } = await emitter();
      const emission = job(id, { emit_id: newId("emit", nowMs) });
      await Workflows(failedOver.mongo).insertOne({
        _id: id,
        owner_id: newId("u"),
        name: "flow",
        created_at: 0,
      });
      const first = await emit(failedOver, { ...emission, requested_at_ms: nowMs });
      failedOver.redis.disconnect(true);
      await until(() => failedOver.redisSince() === nowMs, { what: "the lost connection" });
      await failedOver.redis.del(failedOver.keys.seenEmits(id));
      expect((await emit(failedOver, emission)).event_id).to.equal(first.event_id);
    } finally {
      await failedOver.destroy();
    }
  });

  it("keeps its event id in its job, for the case that the job is repeated", async () => {
    const { id } = await emitter();
    const emission = job(id);
    const { event_id } = await emit(platform, emission);
    expect(emission.score).to.equal(eventScore(String(event_id)));
    await platform.redis.del(platform.keys.seenEmits(id));
    await platform.eventLog.deleteRange(id, "emits", {});
    expect((await emit(platform, emission)).event_id).to.equal(event_id);
  });

  it("is not-found, and leaves no keys, if its emitter was deleted while cached", async () => {
    const { id, owner } = await emitter("", null, newId("p", OLD));
    await emit(platform, job(id));
    await Workflows(platform.mongo).deleteOne({ _id: id });
    await platform.eventLog.delete(id);
    await platform.routing.invalidate([owner]);
    expect((await rejection(emit(platform, job(id)))).code).to.equal("not-found");
    expect(await platform.redis.keys(`*{${id}}*`)).to.deep.equal([]);
  });

  it("is not-found, and leaves no keys, if its emitter does not exist", async () => {
    for (const prefix of ["p", "dc"] as const) {
      const id = newId(prefix, OLD);
      expect((await rejection(emit(platform, job(id)))).code).to.equal("not-found");
      expect(await platform.redis.keys(`*{${id}}*`)).to.deep.equal([]);
    }
  });

  it("waits, and loses nothing, while a lagging read does not find its emitter, which is young", async () => {
    const { id, owner } = await emitter();
    const first = await emit(platform, job(id));
    const keysBefore = (await platform.redis.keys(`*{${id}}*`)).sort();
    // As a read right after a failover sees it, cached or not.
    await Workflows(platform.mongo).deleteOne({ _id: id });
    const emission = job(id);
    for (let n = 0; n < 3; n++) {
      await platform.routing.invalidate([owner]);
      expect((await rejection(emit(platform, emission))).code).to.equal("unavailable");
    }
    const [other] = await emitAll(platform, [job((await emitter()).id), emission]);
    expect(other, "others in the same batch go on").to.have.property("event_id");
    expect((await platform.redis.keys(`*{${id}}*`)).sort()).to.include.members(keysBefore);
    await Workflows(platform.mongo).insertOne({ _id: id, owner_id: owner, name: "flow", created_at: 0 });
    await platform.routing.invalidate([owner]);
    const second = await emit(platform, emission);
    expect(eventScore(second.event_id)).to.be.above(eventScore(first.event_id) ?? 0);
    expect((await rows(id)).map(row => row.id)).to.deep.equal([second.event_id, first.event_id]);
  });

  it("is not-found at once if its young emitter was deleted", async () => {
    const { id } = await emitter();
    await noteDeleted(platform, id);
    await Workflows(platform.mongo).deleteOne({ _id: id });
    expect((await rejection(emit(platform, job(id)))).code).to.equal("not-found");
  });
});
