import { expect } from "chai";
import { newId } from "../../src/lib/ids.ts";
import { wordsOfText } from "../../src/lib/payload-words.ts";
import { Deliveries, type Delivery } from "../../src/models/delivery.ts";
import { StoredEvents } from "../../src/models/event.ts";
import { Webhooks } from "../../src/models/webhook.ts";
import type { Api, Page } from "../support/api.ts";
import { type System, startSystem } from "../support/system.ts";
import { storeDelivery } from "./delivery-row.ts";

const WEBHOOKS = 320;
const AT_MS = 1_700_000_000_000;

/** More webhooks than one query merges: their deliveries are found among the newest of all, or by several queries. */
describe("the deliveries of very many webhooks", () => {
  let system: System;
  let api: Api & { userId: string };
  let webhooks: string[];
  let ids: string[];
  before(async () => {
    system = await startSystem({ PAYLOAD_SEARCH_WORDS: "8" }, { workers: false });
    api = await system.user({ plan: "paid" });
    const { id } = await api.createWebhook("http://127.0.0.1:9/");
    const { mongo } = system.worker;
    const row = await Webhooks(mongo).findById(id).lean();
    webhooks = Array.from({ length: WEBHOOKS }, (_, n) => newId("wh", AT_MS + n));
    await Webhooks(mongo).collection.insertMany(webhooks.map(_id => ({ ...row, _id })) as never);
    ids = [];
    for (let n = 0; n < WEBHOOKS; n++) {
      const { _id } = await storeDelivery(system.worker, {
        ...{ owner_id: api.userId, webhook_id: webhooks[n] ?? "", emitter_id: "p_x", emit_id: `p_x-${n}` },
        ...{ event_id: `${AT_MS + n}-0`, event_name: n % 100 === 0 ? "rare" : "" },
      });
      ids.unshift(_id);
    }
    // It was deleted since.
    await storeDelivery(system.worker, {
      ...{ owner_id: api.userId, webhook_id: newId("wh"), emitter_id: "p_x", event_id: `${AT_MS + 1}-0` },
    });
  });
  after(() => system.stop());

  const page = async (query: Record<string, string | number>) =>
    (await api.request<Page<{ id: string }>>("GET", "/deliveries", { query: { limit: 100, ...query } })).body;

  /** Every page from the newest row on, by the cursors. */
  async function pages(query: Record<string, string>): Promise<string[][]> {
    const all: string[][] = [];
    let cursor: string | null = null;
    do {
      const { data, page_info }: Page<{ id: string }> = await page({
        ...query,
        ...(cursor && { after: cursor }),
      });
      all.push(data.map(({ id }) => id));
      cursor = page_info.end_cursor;
    } while (cursor !== null);
    return all;
  }

  async function expectAll(): Promise<void> {
    expect((await pages({})).flat()).to.deep.equal(ids);
    expect((await pages({ state: "failed" })).flat()).to.deep.equal(ids);
    expect((await pages({ state: "pending" })).flat()).to.deep.equal([]);
    const rare = ids.filter((_, at) => (WEBHOOKS - 1 - at) % 100 === 0);
    expect((await pages({ event_name: "rare" })).flat()).to.deep.equal(rare);
    expect((await page({})).page_info.total_count).to.equal(WEBHOOKS);
    expect((await page({ event_name: "rare" })).page_info.total_count).to.equal(rare.length);
    const middle = Buffer.from(ids[200] ?? "").toString("base64url");
    const before = await page({ before: middle });
    expect(before.data.map(({ id }) => id)).to.deep.equal(ids.slice(100, 200));
  }

  it("are found among the newest of all accounts, each once, and none of a deleted webhook", expectAll);

  it("are found behind very many newer ones of other accounts", async () => {
    const [one] = await Deliveries(system.worker.mongo).find({ owner_id: api.userId }).limit(1).lean();
    const others = Array.from({ length: 2500 }, (_, n): Delivery => {
      const _id = newId("dlv", AT_MS + 1000 + n);
      return { ...(one as Delivery), _id, owner_id: "u_x", webhook_id: "wh_x" };
    });
    await Deliveries(system.worker.mongo).insertMany(others);
    await expectAll();
  });

  it("are found by words of their payload", async () => {
    await StoredEvents(system.worker.mongo).insertOne({
      ...{ _id: "p_x-7", emitter_id: "p_x", owner_id: api.userId, event_id: `${AT_MS + 7}-0`, name: "" },
      ...{ score: (AT_MS + 7) * 1024, event: '"ada"', has_webhook_listeners: true, created_at: new Date() },
      words: wordsOfText("ada"),
    });
    const { data, page_info } = await page({ text: "ada" });
    expect(data.map(({ id }) => id)).to.deep.equal([ids[WEBHOOKS - 1 - 7]]);
    expect(page_info.total_count).to.equal(1);
  });
});
