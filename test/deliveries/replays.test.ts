import { expect } from "chai";
import { runReplay } from "../../src/deliveries/worker/replay.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { Deliveries } from "../../src/models/delivery.ts";
import { StoredEvents } from "../../src/models/event.ts";
import { Replays } from "../../src/models/replay.ts";
import { Snooze } from "../../src/queues/verdicts.ts";
import type { Api } from "../support/api.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";

describe("the replay of all deliveries of a filter", () => {
  let system: System;
  let receiver: Receiver;
  let api: Api & { userId: string };
  let flow: string;
  before(async () => {
    system = await startSystem();
    receiver = await startReceiver();
  });
  after(async () => {
    await receiver.close();
    await system.stop();
  });
  beforeEach(async () => {
    api = await system.user();
    flow = (await api.expect(201, "POST", "/workflows", { body: { name: "Flow" } })).id;
    receiver.script(200);
    receiver.requests.splice(0);
  });

  const webhook = async () => {
    const { id } = await api.createWebhook(receiver.url);
    await api.subscribe(flow, id);
    return id;
  };
  const publish = (count: number) =>
    api.expect(202, "POST", `/workflows/${flow}/events`, {
      body: { events: Array.from({ length: count }, (_, n) => ({ event: n })) },
    });
  const received = (count: number) => until(() => receiver.requests.length >= count && receiver.requests);
  const delivered = (count: number) =>
    until(async () => {
      const { body } = await api.request("GET", "/deliveries", { query: { state: "delivered" } });
      return body.page_info.total_count === count;
    });
  const start = (body: object) => api.expect(202, "POST", "/replays", { body });
  const ended = (id: string) =>
    until(async () => {
      const replay = await api.expect(200, "GET", `/replays/${id}`);
      return replay.state !== "running" && replay;
    });

  it("counts them first, and then sends each again under its id", async () => {
    const [first] = [await webhook(), await webhook()];
    await publish(3);
    await delivered(6);
    const filter = { webhook_id: first, state: "delivered" };
    const counted = await api.expect(200, "POST", "/replays", { body: { ...filter, dry_run: true } });
    expect(counted).to.deep.include({ id: null, state: "counted", count: 3, count_is_exact: true, filter });
    expect(receiver.requests).to.have.length(6);
    const { id, count } = await start(filter);
    expect(count).to.equal(3);
    const ids = (await received(9)).map(({ headers }) => headers["webhook-id"]);
    expect(new Set(ids).size).to.equal(6);
    expect(await ended(id)).to.include({ state: "done", replayed: 3, skipped: 0 });
    expect((await api.expect(200, "GET", "/replays")).map((one: { id: string }) => one.id)).to.deep.equal([
      id,
    ]);
  });

  it("skips those that can't be sent: the event is gone, or the webhook is disabled", async () => {
    const [first, second] = [await webhook(), await webhook()];
    await publish(2);
    await delivered(4);
    await api.expect(200, "PUT", `/webhooks/${second}`, { body: { active: false } });
    const [one] = await Deliveries(system.worker.mongo).find({ webhook_id: first }).lean();
    await StoredEvents(system.worker.mongo).deleteOne({ _id: one?.emit_id });
    const { id } = await start({});
    expect(await ended(id)).to.include({ state: "done", count: 4, replayed: 1, skipped: 3 });
    await received(5);
  });

  it("goes on where its last batch ended, with a filter that has no index too, until it is stopped", async () => {
    await webhook();
    await publish(5);
    await delivered(5);
    const run = async (filter: object, batches: number) => {
      const { id } = await start({ ...filter, since: 32_000_000_000 });
      await ended(id);
      // As if it had just begun, for all deliveries.
      await Replays(system.worker.mongo).updateOne(
        { _id: id },
        {
          $set: {
            state: "running",
            filter,
            done_id: "dlv_0000000",
            end_id: "dlv_z",
            // The reconciler, too, continues what has no job.
            created_at: 32_000_000_000,
          },
        },
      );
      const results: unknown[] = [];
      for (let i = 0; i < batches; i++) {
        const job = { replay_id: id, account_id: api.userId };
        results.push(
          await runReplay(system.worker, { job }, 2).then(
            ({ result }) => result,
            (error: unknown) => (error instanceof Snooze ? "snoozed" : error),
          ),
        );
      }
      return { id, results };
    };
    for (const filter of [{ state: "delivered" }, { event_name: "" }]) {
      const { id, results } = await run(filter, 3);
      expect(results, JSON.stringify(filter)).to.deep.equal(["snoozed", "snoozed", "replayed"]);
      expect(await api.expect(200, "GET", `/replays/${id}`)).to.include({ state: "done", replayed: 5 });
      await delivered(5);
    }
    const { id } = await run({}, 1);
    await api.expect(204, "DELETE", `/replays/${id}`);
    const job = { replay_id: id, account_id: api.userId };
    expect(await runReplay(system.worker, { job }, 2)).to.include({ result: "superseded" });
    expect(await api.expect(200, "GET", `/replays/${id}`)).to.include({ state: "stopped", replayed: 2 });
  });

  it("is one of at most some at a time, and names only what the account owns", async () => {
    const stranger = await system.user();
    const mine = await webhook();
    for (const body of [{ webhook_id: mine }, { emitter_id: flow }]) {
      expect((await stranger.request("POST", "/replays", { body })).status).to.equal(404);
    }
    for (const body of [{ status: "x" }, { since: "1" }, { dry_run: 1 }, { text: "a" }]) {
      expect((await api.request("POST", "/replays", { body })).status, JSON.stringify(body)).to.equal(400);
    }
    for (const body of [{ text: "---" }, { since: 2, until: 1 }]) {
      const { errors } = (await api.request("POST", "/replays", { body })).body;
      expect(errors[0]).to.include({ in: "body", path: Object.keys(body).at(-1) });
    }
    const { id } = await start({});
    await ended(id);
    const row = await Replays(system.worker.mongo).findById(id).lean();
    const rows = Array.from({ length: LIMITS.replaysRunning.value }, (_, n) => ({
      ...row,
      _id: `${id.slice(0, -2)}${String(n).padStart(2, "0")}`,
      state: "running" as const,
      // As if they began later, so that the reconciler leaves them alone.
      created_at: 32_000_000_000,
    }));
    await Replays(system.worker.mongo).insertMany(rows);
    expect((await api.request("POST", "/replays", { body: {} })).status).to.equal(409);
    await api.expect(204, "DELETE", `/replays/${rows[0]?._id}`);
    await ended((await start({})).id);
  });
});
