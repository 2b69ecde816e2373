import { expect } from "chai";
import { firstIdAt, newId } from "../../src/lib/ids.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { type AttemptRecord, Deliveries, type Delivery } from "../../src/models/delivery.ts";
import type { Api, Page } from "../support/api.ts";
import { type System, startSystem } from "../support/system.ts";

describe("the deliveries of all webhooks of an account", () => {
  let system: System;
  let api: Api & { userId: string };
  let webhooks: string[];
  let source: string;
  before(async () => {
    system = await startSystem({}, { workers: false });
  });
  after(() => system.stop());
  beforeEach(async () => {
    api = await system.user();
    webhooks = [];
    for (let i = 0; i < 2; i++) webhooks.push((await api.createWebhook("http://127.0.0.1:9/")).id);
    source = (await api.expect(201, "POST", "/workflows", { body: { name: "Flow" } })).id;
  });

  const attempt = (status: number | null): AttemptRecord => ({
    number: 1,
    at_ms: 0,
    trigger: "schedule",
    status,
    latency_ms: 1,
    error: null,
    response: "",
  });
  /** Rows are in the order of their numbers; even ones went to the first webhook. */
  const row = (n: number, changes: Partial<Delivery> = {}): Delivery => ({
    _id: `${firstIdAt("dlv", 1_700_000_000_000 + n * 1000)}${newId("dlv").slice(-9)}`,
    webhook_id: webhooks[n % 2] ?? "",
    owner_id: api.userId,
    subscription_id: "sub_x",
    emitter_id: source,
    emit_id: `${source}-${n}`,
    event_id: `${1_700_000_000_000 + n * 1000}-0`,
    event_name: "",
    event_score: 0,
    state: "delivered",
    reason: null,
    generation: 1,
    retry_index: 1,
    trigger: "schedule",
    attempts: [attempt(500), attempt(200)],
    next_attempt_at_ms: null,
    sweep_at_ms: null,
    created_at: new Date(),
    finished_at_ms: 1,
    ...changes,
  });
  const insert = async (rows: Delivery[]) => {
    await Deliveries(system.worker.mongo).insertMany(rows);
    return rows.map(({ _id }) => _id);
  };
  const search = async (query: Record<string, string | number> = {}) =>
    (await api.request<Page<{ id: string }>>("GET", "/deliveries", { query })).body;
  const idsOf = async (query: Record<string, string | number> = {}) =>
    (await search({ limit: 100, ...query })).data.map(({ id }) => id);

  it("are found by state, webhook, emitter, channel, time and status of the last attempt", async () => {
    const [plain, failed, named, silent, waiting] = await insert([
      row(0),
      row(1, { state: "failed", attempts: [attempt(200), attempt(503)] }),
      row(2, { event_name: "orders" }),
      row(3, { state: "failed", attempts: [attempt(null)] }),
      row(4, { state: "pending", attempts: [] }),
    ]);
    const other = (await api.expect(201, "POST", "/workflows", { body: { name: "Other" } })).id;
    const [elsewhere] = await insert([row(5, { emitter_id: other })]);
    const tries: [Record<string, string | number>, (string | undefined)[]][] = [
      [{}, [elsewhere, waiting, silent, named, failed, plain]],
      [{ state: "failed" }, [silent, failed]],
      [{ webhook_id: webhooks[0] ?? "" }, [waiting, named, plain]],
      [{ emitter_id: other }, [elsewhere]],
      [{ event_name: "orders" }, [named]],
      [{ event_name: "", webhook_id: webhooks[0] ?? "" }, [waiting, plain]],
      [{ since: 1_700_000_001, until: 1_700_000_002 }, [named, failed]],
      [{ status: "503" }, [failed]],
      [{ status: "5xx" }, [failed]],
      [{ status: "2xx", state: "delivered" }, [elsewhere, named, plain]],
      [{ status: "none" }, [silent]],
      [{ status: "404" }, []],
    ];
    for (const [query, ids] of tries) {
      expect(await idsOf(query), JSON.stringify(query)).to.deep.equal(ids);
      expect((await search(query)).page_info.total_count, JSON.stringify(query)).to.equal(ids.length);
    }
    const { status, body } = await api.request("GET", "/deliveries", { query: { since: 2, until: 1 } });
    expect([status, body.errors[0].path]).to.deep.equal([400, "until"]);
    const { data } = await search({ state: "failed" });
    expect(data[0]).to.have.nested.property("last_attempt.status", null);
  });

  it("are found by the event that they carry, at whichever webhook", async () => {
    const [first, second] = await insert([row(2), row(3, { _id: row(2)._id, event_id: row(2).event_id })]);
    const [later] = await insert([row(2, { _id: row(2)._id, event_id: "1700000002000-1" })]);
    const other = await system.user();
    await insert([row(2, { _id: row(2)._id, owner_id: other.userId, webhook_id: "wh_x" }), row(4)]);
    const event_id = row(2).event_id;
    expect(new Set(await idsOf({ event_id }))).to.deep.equal(new Set([first, second]));
    expect((await search({ event_id })).page_info).to.include({ total_count: 2, count: 2 });
    expect(await idsOf({ event_id, webhook_id: webhooks[1] ?? "" })).to.deep.equal([second]);
    expect(await idsOf({ event_id: "1700000002000-1" })).to.deep.equal([later]);
    expect(await idsOf({ event_id, since: 1_700_000_003 })).to.deep.equal([]);
    expect(await idsOf({ event_id, state: "failed" })).to.deep.equal([]);
    expect(await idsOf({ event_id: "1-0" })).to.deep.equal([]);
    const { body } = await other.request("GET", "/deliveries", { query: { event_id } });
    expect(body.data).to.deep.equal([]);
  });

  it("are found by the subscription that led to them, also after its end", async () => {
    const { id } = await api.subscribe(source, webhooks[1] ?? "");
    const [ours] = await insert([row(1, { subscription_id: id }), row(3), row(0)]);
    expect(await idsOf({ subscription_id: id })).to.deep.equal([ours]);
    await api.expect(204, "DELETE", `/subscriptions/${id}`);
    expect(await idsOf({ subscription_id: id })).to.deep.equal([ours]);
    const stranger = await system.user();
    const { body } = await stranger.request("GET", "/deliveries", { query: { subscription_id: id } });
    expect(body.data).to.deep.equal([]);
  });

  it("are found by the subscription of a member to an organization's webhook", async () => {
    const orgId = await system.organization(api.userId);
    const shared = (await api.createWebhook("http://127.0.0.1:9/", { org_id: orgId })).id;
    const { id } = await api.subscribe(source, shared);
    const [ours] = await insert([row(1, { subscription_id: id, webhook_id: shared, owner_id: orgId })]);
    expect(await idsOf({ subscription_id: id, org_id: orgId })).to.deep.equal([ours]);
  });

  it("are those of the account, or of the organization that the request names", async () => {
    const [own] = await insert([row(0)]);
    const orgId = await system.organization(api.userId);
    const shared = await api.createWebhook("http://127.0.0.1:9/", { org_id: orgId });
    const [of] = await insert([row(1, { owner_id: orgId, webhook_id: shared.id })]);
    expect([
      await idsOf(),
      await idsOf({ org_id: orgId }),
      await idsOf({ webhook_id: shared.id }),
    ]).to.deep.equal([[own], [of], [of]]);
    const stranger = await system.user();
    const foreign: Record<string, string>[] = [
      { webhook_id: webhooks[0] ?? "" },
      { emitter_id: source },
      { org_id: orgId },
    ];
    for (const query of foreign) {
      expect((await stranger.request("GET", "/deliveries", { query })).status).to.equal(404);
    }
    expect((await stranger.request("GET", "/deliveries")).body.data).to.deep.equal([]);
  });

  it("are paged with a filter that has no index, in parts, until there is no further cursor @long", async () => {
    const most = LIMITS.deliveriesSearched.value;
    const rows = Array.from({ length: most + 50 }, (_, n) => row(n));
    for (const n of [0, 1, 20, most, most + 1]) Object.assign(rows[n] ?? {}, { event_name: "rare" });
    const ids = await insert(rows);
    const rare = [most + 1, most, 20, 1, 0].map(n => ids[n]);
    const pages: string[][] = [];
    let cursor: string | null = null;
    do {
      const query: Record<string, string | number> = {
        event_name: "rare",
        limit: 2,
        ...(cursor && { after: cursor }),
      };
      const { data, page_info } = await search(query);
      pages.push(data.map(({ id }) => id));
      cursor = page_info.end_cursor;
    } while (cursor !== null);
    expect(pages.flat()).to.deep.equal(rare);
    expect(pages.filter(page => page.length === 0).length, "the search took several pages").to.be.at.least(1);
    const [newest] = (await search({ event_name: "rare" })).data;
    const back = await search({
      event_name: "rare",
      before: Buffer.from(newest?.id ?? "").toString("base64url"),
    });
    expect(back.data).to.deep.equal([]);
  });

  const wrong: Record<string, string>[] = [
    { status: "600" },
    { status: "ok" },
    { state: "gone" },
    { since: "x" },
    { webhook: "wh_x" },
    { event_id: "order-17" },
  ];
  for (const query of wrong) {
    it(`are not searched by ${JSON.stringify(query)}`, async () => {
      expect((await api.request("GET", "/deliveries", { query })).status).to.equal(400);
    });
  }
});
