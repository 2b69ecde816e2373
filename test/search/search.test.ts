import { expect } from "chai";
import { addMember } from "../../src/accounts/organizations.ts";
import { newId, newToken } from "../../src/lib/ids.ts";
import { wordsOfText } from "../../src/lib/payload-words.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { StoredEvents, storedEventId } from "../../src/models/event.ts";
import { Replays } from "../../src/models/replay.ts";
import { RunRecords } from "../../src/models/run.ts";
import { Workflows } from "../../src/models/workflow.ts";
import type { SearchHit } from "../../src/search/schema.ts";
import { storeDelivery } from "../deliveries/delivery-row.ts";
import { storeSource } from "../sources/source-row.ts";
import type { Api } from "../support/api.ts";
import { append } from "../support/event-log.ts";
import { type System, startSystem } from "../support/system.ts";

const AT_MS = 1_700_000_000_000;

describe("the search", () => {
  let system: System;
  let api: Api & { userId: string };
  before(async () => {
    system = await startSystem({ PAYLOAD_SEARCH_WORDS: "8" }, { workers: false });
  });
  after(() => system.stop());
  beforeEach(async () => {
    api = await system.user();
  });

  const search = async (q: string, by: Api = api, query: Record<string, string> = {}) =>
    (await by.expect(200, "GET", "/search", { query: { q, ...query } })) as {
      hits: SearchHit[];
      partial: boolean;
    };
  const found = async (q: string, by?: Api, query?: Record<string, string>) =>
    (await search(q, by, query)).hits.map(({ kind, id }) => `${kind} ${id}`);
  const workflow = async (name: string, query: Record<string, string> = {}): Promise<string> =>
    (await api.expect(201, "POST", "/workflows", { body: { name }, query })).id;
  const webhook = async (name: string, url = "http://127.0.0.1:9/") =>
    (await api.createWebhook(url, { name })).id;

  /** Stores an event of a workflow with its delivery to a webhook. */
  async function deliver(
    emitter: string,
    to: string,
    event = "{}",
    chosen = `order-${newToken().slice(0, 8)}`,
  ) {
    const { mongo } = system.worker;
    const [emitId, eventId] = [chosen, `${AT_MS}-7`];
    const stored = storedEventId(emitter, emitId);
    const words = wordsOfText(event);
    await StoredEvents(mongo).insertOne({
      _id: stored,
      emitter_id: emitter,
      owner_id: api.userId,
      event_id: eventId,
      score: AT_MS * 1024 + 7,
      name: "sales",
      event,
      has_webhook_listeners: true,
      created_at: new Date(),
      words,
    });
    const ends = { owner_id: api.userId, webhook_id: to, emitter_id: emitter };
    const row = await storeDelivery(system.worker, { ...ends, emit_id: stored, event_id: eventId });
    return { delivery: row._id, emitId, eventId };
  }

  async function storeRun(): Promise<{ run: string; source: string }> {
    const source = (await storeSource(system.worker, { owner_id: api.userId, name: "poller" }))._id;
    const run = newId("run");
    const row = {
      source_id: source,
      owner_id: api.userId,
      kind: "timer",
      outcome: "Error",
      duration_ms: 1,
      emitted: 1,
      dropped: {},
      finished_at: new Date(),
      expires_at: new Date(Date.now() + 60_000),
    };
    await RunRecords(system.worker.mongo).insertMany([
      { ...row, _id: run },
      { ...row, _id: `${run}~0001`, kind: "part" },
    ]);
    return { run, source };
  }

  it("finds what is managed by its id and by the beginning of it", async () => {
    const flow = await workflow("Flow");
    const hook = await webhook("Hook");
    const body = { redis_stream: { url: "redis://127.0.0.1:1", stream: "events" } };
    const things: Record<string, string> = {
      workflow: flow,
      webhook: hook,
      destination: (await api.expect(201, "POST", "/destinations", { body })).id,
      source: (await storeSource(system.worker, { owner_id: api.userId }))._id,
      subscription: (await api.subscribe(flow, hook)).id,
      auto_subscription: (
        await api.expect(200, "POST", "/auto_subscriptions", {
          query: { event_name: "$errors", listener_id: hook },
        })
      ).id,
      connection: (
        await api.expect(201, "POST", "/connections", { body: { app: "weather", fields: { api_key: "x" } } })
      ).id,
      api_key: (await api.expect(201, "POST", "/api_keys", { body: { name: "ci" } })).id,
    };
    const stranger = await system.user();
    for (const [kind, id] of Object.entries(things)) {
      expect(await found(id), kind).to.deep.equal([`${kind} ${id}`]);
      expect(await found(id.slice(0, -2)), kind).to.include(`${kind} ${id}`);
      expect((await search(id)).hits[0]?.why).to.equal("id");
      expect(await found(id, stranger), kind).to.deep.equal([]);
      expect(await found(id.slice(0, -2), stranger), kind).to.deep.equal([]);
    }
  });

  it("finds a component by its id, key and name", async () => {
    const code = `export default { name: "Night watch", version: "0.0.1", key: "night-${newToken()}", run() {} };`;
    const { id, key } = await api.expect(201, "POST", "/components", { body: { component_code: code } });
    for (const q of [id, key, "NIGHT watch"]) expect(await found(q)).to.deep.equal([`component ${id}`]);
  });

  it("finds a delivery by the webhook-id that its receiver has, with what it connects", async () => {
    const { delivery, eventId } = await deliver(await workflow("Orders"), await webhook("Ledger"));
    const { hits } = await search(delivery);
    expect(hits).to.have.length(1);
    expect(hits[0]).to.include({
      kind: "delivery",
      name: "Orders → Ledger",
      detail: eventId,
      state: "failed",
    });
    expect(await found(delivery.slice(0, -4))).to.deep.equal([`delivery ${delivery}`]);
    expect(await found(delivery, await system.user())).to.deep.equal([]);
  });

  it("finds an event by its event id and by its emit id, without its emitter", async () => {
    const flow = await workflow("Orders");
    const { delivery, emitId, eventId } = await deliver(flow, await webhook("Ledger"));
    const { hits } = await search(eventId);
    const event = hits.find(({ kind }) => kind === "event");
    expect(event).to.include({
      id: eventId,
      emitter_id: flow,
      name: "Orders",
      detail: "sales",
      at_ms: AT_MS,
    });
    expect(hits.map(({ id }) => id)).to.include(delivery);
    expect((await search(emitId)).hits[0]).to.include({ kind: "event", id: eventId, emitter_id: flow });
    const stranger = await system.user();
    for (const q of [emitId, eventId]) expect(await found(q, stranger), q).to.deep.equal([]);
  });

  it("finds an event that only its summary is kept of", async () => {
    const flow = await workflow("Quiet");
    const metadata = { emit_id: newId("emit"), name: "", emitter_id: flow };
    const { eventId } = await append(system.worker.eventLog, flow, "emits", {
      event: { raw_event: { n: 1 } },
      metadata,
    });
    expect((await search(eventId)).hits[0]).to.include({ kind: "event", id: eventId, emitter_id: flow });
    expect(await found(eventId, await system.user())).to.deep.equal([]);
  });

  it("finds an event by an emit id that is a word, unless something is called so", async () => {
    const flow = await workflow("Wages");
    const { eventId } = await deliver(flow, await webhook("Bank"), "{}", "payday");
    expect((await search("payday")).hits[0]).to.include({ kind: "event", id: eventId, emitter_id: flow });
    await webhook("Payday");
    expect((await search("payday")).hits.map(({ kind }) => kind)).to.deep.equal(["webhook"]);
  });

  it("says that it is partial if there are more emitters than it asks for an emit id", async () => {
    const row = { owner_id: api.userId, name: "one of many", created_at: 0 };
    const rows = Array.from({ length: 1000 }, () => ({ ...row, _id: newId("p") }));
    await Workflows(system.worker.mongo).insertMany(rows);
    expect(await search("order-absent")).to.deep.equal({ hits: [], partial: true });
    expect(await search("absent and far")).to.deep.equal({ hits: [], partial: false });
  });

  it("finds a run, and an event by the run that emitted it", async () => {
    const { run, source } = await storeRun();
    expect((await search(run)).hits).to.have.length(1);
    expect((await search(run)).hits[0]).to.include({
      kind: "run",
      id: run,
      source_id: source,
      name: "poller",
      detail: "timer",
      state: "Error",
    });
    const emit_id = `${run}-0`;
    const metadata = { emit_id, name: "", emitter_id: source };
    const { eventId } = await append(system.worker.eventLog, source, "emits", {
      event: { raw_event: { n: 1 } },
      metadata,
    });
    expect((await search(emit_id)).hits[0]).to.include({ kind: "event", id: eventId, emitter_id: source });
    const stranger = await system.user();
    for (const q of [run, emit_id]) expect(await found(q, stranger)).to.deep.equal([]);
  });

  it("finds a replay by its id", async () => {
    const _id = newId("rpl");
    await Replays(system.worker.mongo).insertOne({
      _id,
      owner_id: api.userId,
      owners: [api.userId],
      filter: {},
      state: "done",
      count: 1,
      replayed: 1,
      count_is_exact: true,
      skipped: 0,
      done_id: "dlv_",
      end_id: "dlv_z",
      failures: 0,
      error: null,
      reason: null,
      created_at: 1,
      finished_at_ms: 1,
      expires_at: new Date(Date.now() + 60_000),
    });
    expect(await found(_id)).to.deep.equal([`replay ${_id}`]);
  });

  it("finds things by a part of their name or address, those first whose name is the text", async () => {
    const [longer, exact, begins] = [
      await webhook("all orders"),
      await webhook("Orders"),
      await webhook("orders of today"),
    ];
    const elsewhere = await webhook("Ledger", "https://example.com/orders");
    const flow = await workflow("Orders in");
    expect(await found("orders")).to.deep.equal([
      `webhook ${exact}`,
      ...[`webhook ${begins}`, `workflow ${flow}`, `webhook ${longer}`, `webhook ${elsewhere}`],
    ]);
    const whys = (await search("orders")).hits.map(({ why }) => why);
    expect(whys).to.deep.equal(["name", "name", "name", "name", "url"]);
    expect(await found("orders", await system.user())).to.deep.equal([]);
  });

  it("finds a source by the address of its endpoint", async () => {
    const endpoint = newToken();
    const { _id } = await storeSource(system.worker, { owner_id: api.userId, endpoint, name: "Shop" });
    expect(await found(`https://headwater.example/in/${endpoint}`)).to.deep.equal([`source ${_id}`]);
    expect(await found(endpoint)).to.deep.equal([`source ${_id}`]);
    expect(await found(endpoint, await system.user())).to.deep.equal([]);
  });

  it("finds deliveries by words of their payload", async () => {
    const { delivery } = await deliver(
      await workflow("Flow"),
      await webhook("Hook"),
      '{"who":"ada@example.org"}',
    );
    const { hits } = await search("Ada@example.org");
    expect(hits.map(({ id, why }) => [id, why])).to.deep.equal([[delivery, "text"]]);
    expect(await found("ada@example.org", await system.user())).to.deep.equal([]);
  });

  it("finds what an organization owns for its members, and with org_id nothing else", async () => {
    const owner = await system.user();
    const orgId = await system.organization(owner.userId);
    await addMember(system.worker, orgId, api.userId);
    const own = await workflow("Orders of mine");
    const shared = await workflow("Orders of ours", { org_id: orgId });
    expect(new Set(await found("orders of"))).to.deep.equal(
      new Set([`workflow ${own}`, `workflow ${shared}`]),
    );
    expect((await search(shared)).hits[0]?.org_id).to.equal(orgId);
    expect(await found("orders of", api, { org_id: orgId })).to.deep.equal([`workflow ${shared}`]);
    expect(await found(own, api, { org_id: orgId })).to.deep.equal([]);
  });

  it("shows no more than a few of a kind", async () => {
    const most = LIMITS.searchHitsOfKind.value;
    for (let i = 0; i < most + 2; i++) await workflow(`Same ${i}`);
    expect(await found("same")).to.have.length(most);
  });

  it("takes any text as it is", async () => {
    const flow = await workflow("a.*(b[c]{2}|^$\\d+?");
    await workflow("abc2");
    for (const q of [
      ".*",
      "(b",
      "[c]",
      "\\d",
      "$",
      "' || '1'=='1",
      '{"$gt":""}',
      "dlv_",
      "run_",
      "wh_%",
      "…",
    ]) {
      const hits = await found(q);
      expect(
        hits.filter(hit => hit !== `workflow ${flow}`),
        q,
      ).to.deep.equal([]);
    }
    expect(await found("   ")).to.deep.equal([]);
    expect(await found(" a.*(b ")).to.deep.equal([`workflow ${flow}`]);
  });

  it("rejects a text that is empty, too long, or has control characters", async () => {
    const most = LIMITS.searchCharacters.value;
    for (const q of ["", "x".repeat(most + 1), "x".repeat(10_000), "a\0b", "a\nb"]) {
      const { status, body } = await api.request("GET", "/search", { query: { q } });
      expect(status, q.slice(0, 10)).to.equal(400);
      expect(body.errors[0].path).to.equal("q");
    }
    expect((await api.request("GET", "/search")).status).to.equal(400);
  });
});
