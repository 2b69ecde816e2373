import { expect } from "chai";
import { type EmittedEvent, fanOut } from "../../src/events/fan-out.ts";
import { newId } from "../../src/lib/ids.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";
import type { StoredEvent } from "../../src/models/event.ts";
import { Memberships } from "../../src/models/organization.ts";
import type { Subscription } from "../../src/models/subscription.ts";
import { Workflows } from "../../src/models/workflow.ts";
import { openedQueue } from "../../src/queues/define-queue.ts";
import { deliveries, type FirstAttempts } from "../../src/queues/deliveries.ts";
import { parseRunItem } from "../../src/queues/run-item.ts";
import { workflowEvents } from "../../src/queues/workflow-events.ts";
import { readDrops } from "../../src/store/events/drops.ts";
import { createWebhook } from "../../src/webhooks/webhooks.ts";
import { storeSource } from "../sources/source-row.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";

describe("fan-out of an event", () => {
  let platform: TestPlatform;
  before(async () => {
    platform = await openTestPlatform();
  });
  after(() => platform.destroy());

  const owner = newId("u");
  const subscription = (listener_id: string, more: Partial<Subscription> = {}): Subscription => ({
    _id: newId("sub"),
    owner_id: owner,
    user_id: owner,
    emitter_id: "dc_*",
    listener_id,
    event_name: "",
    filter: null,
    created_at: 0,
    ...more,
  });

  function emitted(event: unknown, hops?: number): EmittedEvent {
    const emission = {
      emitter_id: newId("dc"),
      emit_id: newId("emit"),
      event,
      ...(hops !== undefined && { hops }),
    };
    const at = Date.now();
    const stored: StoredEvent = {
      _id: emission.emit_id,
      emitter_id: emission.emitter_id,
      owner_id: owner,
      event_id: `${at}-0`,
      score: at * 1024,
      name: "",
      event: JSON.stringify(event),
      has_webhook_listeners: true,
      created_at: new Date(at),
    };
    const emitter = { id: emission.emitter_id, owner_id: owner };
    const rest = {
      channel: "",
      index: 0,
      looped: 0,
      isNew: true,
      truncated: false,
      subscriptions: [],
      filtered: 0,
      span: undefined,
      dispatch: "new" as const,
    };
    return { stored, emission, emitter, ...rest };
  }

  const fanOutTo = async (event: EmittedEvent, subscriptions: Subscription[]) =>
    (await fanOut(platform, [{ ...event, subscriptions }]))[0];
  /** The webhooks named in waiting first-attempts jobs. */
  const webhooksInJobs = async (): Promise<string[]> =>
    (await openedQueue(platform.queues, deliveries).getJobs(["waiting", "prioritized"])).flatMap(({ data }) =>
      (data as FirstAttempts).events.flatMap(event => event.listeners.map(([, webhookId]) => webhookId)),
    );

  const workflow = async (ownerId = owner) => {
    const _id = newId("p");
    await Workflows(platform.mongo).insertOne({ _id, owner_id: ownerId, name: "flow", created_at: 0 });
    return _id;
  };
  const webhook = async (ownerId = owner) =>
    (await createWebhook(platform, { ownerId, userId: ownerId, url: "http://127.0.0.1:1/" })).id;
  const queuedRuns = async (id: string) =>
    (await platform.redis.lrange(platform.keys.runQueue(id), 0, -1)).map(parseRunItem);
  const jobsOf = async (workflowId: string) =>
    (await openedQueue(platform.queues, workflowEvents).getJobs(["waiting", "prioritized"])).filter(
      job => job.data.workflow_id === workflowId,
    );

  it("reaches each kind of listener, under the same ids when it is repeated", async () => {
    const listener = await storeSource(platform, { owner_id: owner });
    const [workflowId, webhookId] = [await workflow(), await webhook()];
    const subscriptions = [listener._id, workflowId, webhookId].map(id => subscription(id));
    const event = emitted({ n: 1 }, 2);
    const { stored, emission } = event;
    for (const dispatch of ["new", "redispatch"] as const) {
      expect(await fanOutTo({ ...event, dispatch }, subscriptions)).to.equal(3);
    }
    const items = await queuedRuns(listener._id);
    expect(new Set(items.map(item => item.run_id)).size).to.equal(1);
    expect(items[0]).to.deep.include({ kind: "event", event: { n: 1 }, hops: 3 });
    const [job, ...others] = await jobsOf(workflowId);
    expect(others).to.deep.equal([]);
    expect(job?.data).to.deep.equal({
      workflow_id: workflowId,
      subscription_id: subscriptions[1]?._id,
      event_id: stored.event_id,
      emit_id: emission.emit_id,
      emitter_id: emission.emitter_id,
      name: "",
      event: { n: 1 },
      hops: 3,
    });
    expect(await webhooksInJobs()).to.deep.equal([webhookId, webhookId]);
    expect(await readDrops(platform, emission.emitter_id)).to.deep.equal({});
  });

  it("enqueues a run for each of two subscriptions of one source", async () => {
    const listener = await storeSource(platform, { owner_id: owner });
    await fanOutTo(emitted(1), [subscription(listener._id), subscription(listener._id)]);
    expect(new Set((await queuedRuns(listener._id)).map(item => item.run_id)).size).to.equal(2);
  });

  it("counts each listener that is disabled, deleting, deleted, or not accessible to the subscriber", async () => {
    const stranger = newId("u");
    const absent = [
      (await storeSource(platform, { owner_id: owner, active: false }))._id,
      (await storeSource(platform, { owner_id: owner, state: "deleting" }))._id,
      (await storeSource(platform, { owner_id: owner, state: "deploying" }))._id,
      (await storeSource(platform, { owner_id: stranger }))._id,
      newId("dc"),
      await workflow(stranger),
      newId("p"),
    ];
    const event = emitted(1);
    await fanOutTo(
      event,
      absent.map(id => subscription(id)),
    );
    expect(await readDrops(platform, event.emitter.id)).to.deep.equal({ "listener-absent": absent.length });
    for (const id of absent) {
      expect(await queuedRuns(id)).to.deep.equal([]);
      expect(await jobsOf(id)).to.deep.equal([]);
    }
  });

  it("tells the run of a source of another account whose access is to be asked when it starts", async () => {
    const org = newId("o");
    await Memberships(platform.mongo).insertOne({
      ...{ _id: `${org}-${owner}`, org_id: org, user_id: owner },
      created_at: 0,
    });
    const [own, shared] = [
      await storeSource(platform, { owner_id: owner }),
      await storeSource(platform, { owner_id: org }),
    ];
    const event = emitted(1);
    await fanOutTo(event, [subscription(own._id), subscription(shared._id)]);
    const carriedTo = async (id: string) =>
      (await queuedRuns(id)).map(item => "carried" in item && item.carried);
    expect(await carriedTo(own._id)).to.deep.equal([false]);
    expect(await carriedTo(shared._id)).to.deep.equal([
      { subscriber: owner, emitter: owner, emitter_id: event.emitter.id },
    ]);
  });

  it("ends a loop of sources that listen to each other and counts it, but still reaches webhooks", async () => {
    const listener = await storeSource(platform, { owner_id: owner });
    const [workflowId, webhookId] = [await workflow(), await webhook()];
    const subscriptions = [listener._id, workflowId, webhookId].map(id => subscription(id));
    expect(await fanOutTo(emitted(1, LIMITS.hops.value - 1), subscriptions)).to.equal(3);
    const looped = emitted(1, LIMITS.hops.value);
    expect(await fanOutTo(looped, subscriptions)).to.equal(1);
    expect(await readDrops(platform, looped.emitter.id)).to.deep.equal({ loop: 2 });
    expect((await queuedRuns(listener._id)).map(item => ("hops" in item ? item.hops : null))).to.deep.equal([
      LIMITS.hops.value,
    ]);
  });
});
