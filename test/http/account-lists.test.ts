import { expect } from "chai";
import { newToken } from "../../src/lib/ids.ts";
import { Sources } from "../../src/models/source.ts";
import { Subscriptions } from "../../src/models/subscription.ts";
import { Webhooks } from "../../src/models/webhook.ts";
import { storeSource } from "../sources/source-row.ts";
import type { Api, Page } from "../support/api.ts";
import { type System, startSystem } from "../support/system.ts";

type Query = Record<string, string | number>;
type Row = { id: string; name: string | null };

describe("filters of an account's lists", () => {
  let system: System;
  let api: Api & { userId: string };
  before(async () => {
    system = await startSystem({}, { workers: false });
  });
  after(() => system.stop());
  beforeEach(async () => {
    api = await system.user();
  });

  const page = async (list: string, query: Query = {}) =>
    (await api.request<Page<Row>>("GET", `/users/me/${list}`, { query: { limit: 100, ...query } })).body;
  const idsOf = async (list: string, query: Query) => (await page(list, query)).data.map(({ id }) => id);
  const webhook = async (name: string, url = "http://127.0.0.1:9/") =>
    (await api.createWebhook(url, { name })).id;
  const workflow = async (name: string): Promise<string> =>
    (await api.expect(201, "POST", "/workflows", { body: { name } })).id;
  const destination = async (name: string): Promise<string> => {
    const body = { name, redis_stream: { url: "redis://127.0.0.1:1", stream: "events" } };
    return (await api.expect(201, "POST", "/destinations", { body })).id;
  };
  const source = async (name: string) =>
    (await storeSource(system.worker, { owner_id: api.userId, name, name_slug: name.toLowerCase() }))._id;

  it("find by a text in name, address or id, in either case", async () => {
    const orders = await webhook("Orders", "https://shop.example.com/in?a=1");
    const refunds = await webhook("refunds");
    const flow = await workflow("Nightly orders");
    const stream = await destination("Orders of today");
    const shop = await source("OrdersOfShop");
    await source("other");
    const apn = await api.expect(201, "POST", "/connections", {
      body: { app: "weather", name: "Weather of orders", fields: { api_key: "x" } },
    });
    expect(await idsOf("webhooks", { q: "ORDER" })).to.deep.equal([orders]);
    expect(await idsOf("webhooks", { q: "shop.example.com/in?a" })).to.deep.equal([orders]);
    expect(await idsOf("webhooks", { q: refunds.slice(3, 12) })).to.include(refunds);
    expect(await idsOf("workflows", { q: "orders" })).to.deep.equal([flow]);
    expect(await idsOf("destinations", { q: "today" })).to.deep.equal([stream]);
    expect(await idsOf("sources", { q: "ofshop" })).to.deep.equal([shop]);
    expect(await idsOf("connections", { q: "weath" })).to.deep.equal([apn.id]);
    expect(await idsOf("connections", { q: "api_key" })).to.deep.equal([]);
  });

  it("take a text as it is, whatever it means in a pattern", async () => {
    const odd = await webhook("a.*(b[c]{2}|^$\\d+?");
    await webhook("abc2");
    for (const q of [".*", "(b", "[c]{2}", "|^$", "\\d", "+?", "a.*(b[c]{2}|^$\\d+?"]) {
      expect(await idsOf("webhooks", { q }), q).to.deep.equal([odd]);
    }
  });

  it("reject a text that is empty, too long, or has control characters", async () => {
    for (const q of ["", "x".repeat(129), "a\0b", "a\nb", "\u007f"]) {
      for (const list of ["webhooks", "subscriptions", "sources"]) {
        const { status, body } = await api.request("GET", `/users/me/${list}`, { query: { q } });
        expect(status, JSON.stringify(q)).to.equal(400);
        expect(body.errors[0].path).to.equal("q");
      }
    }
    expect(
      (await api.request("GET", "/users/me/webhooks", { query: { q: "x".repeat(128) } })).status,
    ).to.equal(200);
  });

  it("find webhooks and destinations by their state", async () => {
    const [active, failing, disabled, broken] = [
      await webhook("active"),
      await webhook("failing"),
      await webhook("disabled"),
      await destination("broken"),
    ];
    const set = (_id: string, change: object) =>
      Webhooks(system.worker.mongo).updateOne({ _id }, { $set: change });
    await set(failing, { failing_since_ms: 1_700_000_000_000 });
    await set(disabled, { active: false, failing_since_ms: 1_700_000_000_000 });
    await set(broken, { failing_since_ms: 1_700_000_000_000 });
    const states = async (list: string) =>
      await Promise.all(["active", "failing", "disabled"].map(state => idsOf(list, { state })));
    expect(await states("webhooks")).to.deep.equal([[active], [failing], [disabled]]);
    expect(await states("destinations")).to.deep.equal([[], [broken], []]);
    expect(await idsOf("webhooks", { state: "failing", q: "active" })).to.deep.equal([]);
    const { status } = await api.request("GET", "/users/me/webhooks", { query: { state: "odd" } });
    expect(status).to.equal(400);
  });

  it("find sources by whether they are active", async () => {
    const [on, off] = [await source("on"), await source("off")];
    await Sources(system.worker.mongo).updateOne({ _id: off }, { $set: { active: false } });
    expect(await idsOf("sources", { active: "true" })).to.deep.equal([on]);
    expect(await idsOf("sources", { active: "false" })).to.deep.equal([off]);
  });

  it("find a source by the address of its endpoint, whole or its last part", async () => {
    const endpoint = newToken();
    const found = await source("named otherwise");
    await source("other");
    await Sources(system.worker.mongo).updateOne({ _id: found }, { $set: { endpoint } });
    for (const q of [endpoint, `https://headwater.example/in/${endpoint}`, `/in/${endpoint}/`]) {
      expect(await idsOf("sources", { q }), q).to.deep.equal([found]);
    }
    expect(await idsOf("sources", { q: endpoint.slice(1) })).to.deep.equal([]);
    expect(await idsOf("sources", { q: newToken() })).to.deep.equal([]);
  });

  it("are sorted by what last happened to a thing, from page to page, beside their filters", async () => {
    const made: Record<string, string[]> = {
      webhooks: [await webhook("first one"), await webhook("second"), await webhook("third one")],
      destinations: [
        await destination("first one"),
        await destination("second"),
        await destination("third one"),
      ],
      sources: [await source("first one"), await source("second"), await source("third one")],
    };
    for (const [list, [first = "", second = "", third = ""]] of Object.entries(made)) {
      const { collection } = (list === "sources" ? Sources : Webhooks)(system.worker.mongo);
      const set = (_id: string, change: object) =>
        collection.updateOne({ _id } as never, { $set: change } as never);
      await set(first, { last_event_ms: 2_000, last_error_ms: 5_000 });
      await set(second, { last_event_ms: 9_000, last_success_ms: 1_000 });
      expect(await idsOf(list, { sort: "last_event" }), list).to.deep.equal([second, first, third]);
      expect(await idsOf(list, { sort: "last_success" })).to.deep.equal([second, third, first]);
      expect(await idsOf(list, { sort: "last_error" })).to.deep.equal([first, third, second]);
      // With a blank: an id has none.
      expect(await idsOf(list, { sort: "last_event", q: " one" })).to.deep.equal([first, third]);
      const one = await page(list, { sort: "last_event", limit: 1 });
      expect(one.data[0]).to.include({ last_event_at: 9, last_success_at: 1, last_error_at: null });
      const after = one.page_info.end_cursor ?? "";
      expect(await idsOf(list, { sort: "last_event", after })).to.deep.equal([first, third]);
      const other = await api.request("GET", `/users/me/${list}`, {
        query: { sort: "last_error", after: (await page(list, { limit: 1 })).page_info.end_cursor ?? "" },
      });
      expect(other.status, "a cursor of another order").to.equal(400);
    }
    expect((await api.request("GET", "/users/me/webhooks", { query: { sort: "name" } })).status).to.equal(
      400,
    );
  });

  it("have subscriptions in the order of what they connect, or of the last errors of their functions", async () => {
    const [one, two] = [await workflow("Zebra"), await workflow("Aardvark")];
    const [left, right] = [await webhook("left"), await webhook("right")];
    const made: string[] = [];
    for (const [emitter, listener] of [
      ...[
        [two, left],
        [one, right],
        [two, right],
        [one, left],
      ],
      ["p_*", left],
    ] as const)
      made.push((await api.subscribe(emitter, listener)).id);
    /** The numbers of subscriptions as they were made, page by page. */
    const walked = async (query: Query, limit: number) => {
      const found: number[] = [];
      for (let after: string | null = ""; after !== null; ) {
        const read = await page("subscriptions", { ...query, limit, ...(after !== "" && { after }) });
        found.push(...read.data.map(({ id }) => made.indexOf(id)));
        after = read.page_info.end_cursor;
      }
      return found;
    };
    for (const limit of [1, 2, 100]) {
      expect(await walked({ sort: "emitter" }, limit)).to.deep.equal([4, 3, 1, 2, 0]);
      expect(await walked({ sort: "listener" }, limit)).to.deep.equal([4, 3, 0, 2, 1]);
    }
    const fail = (n: number, at_ms: number) =>
      Subscriptions(system.worker.mongo).updateOne(
        { _id: made[n] ?? "" },
        {
          $set: {
            last_function_error: { message: "x", line: 1, column: 1, event_id: "1-0", at_ms, logs: [] },
          },
        },
      );
    await fail(2, 10);
    await fail(0, 20);
    for (const limit of [1, 2, 100])
      expect(await walked({ sort: "last_error" }, limit)).to.deep.equal([0, 2, 4, 3, 1]);
    expect(await walked({ sort: "emitter", q: "left" }, 1)).to.deep.equal([4, 3, 0]);
    expect(await walked({ sort: "listener", emitter_id: two }, 1)).to.deep.equal([0, 2]);
    // Back from the last one.
    const all = await page("subscriptions", { sort: "emitter" });
    const before = all.page_info.end_cursor ?? "";
    expect(
      (await idsOf("subscriptions", { sort: "emitter", limit: 2, before })).map(id => made.indexOf(id)),
    ).to.deep.equal([1, 2]);
    for (const sort of ["listener", "last_error", "last_event"]) {
      const other = sort === "listener" ? await page("subscriptions", { sort: "last_error" }) : all;
      const query = { sort, after: other.page_info.end_cursor ?? "" };
      expect((await api.request("GET", "/users/me/subscriptions", { query })).status, sort).to.equal(400);
    }
  });

  it("find subscriptions by what they connect, and by its name", async () => {
    const [orders, refunds] = [await workflow("Orders"), await workflow("Refunds")];
    const [ledger, archive] = [
      await webhook("Ledger"),
      await webhook("Archive", "https://archive.example.com"),
    ];
    const one = (await api.subscribe(orders, ledger)).id;
    const two = (await api.subscribe(orders, archive)).id;
    const three = (await api.subscribe(refunds, archive)).id;
    const four = (await api.subscribe("p_*", ledger)).id;
    const tries: [Query, string[]][] = [
      [{ emitter_id: orders }, [two, one]],
      [{ listener_id: archive }, [three, two]],
      [{ emitter_id: orders, listener_id: ledger }, [one]],
      [{ emitter_id: "p_*" }, [four]],
      [{ q: "ledg" }, [four, one]],
      [{ q: "archive.example" }, [three, two]],
      [{ q: "refunds" }, [three]],
      [{ q: "orders", listener_id: archive }, [two]],
      [{ q: three }, [three]],
      [{ q: orders }, [two, one]],
      [{ q: "nothing" }, []],
    ];
    for (const [query, ids] of tries) {
      expect(await idsOf("subscriptions", query), JSON.stringify(query)).to.deep.equal(ids);
      const whole = await api.expect(200, "GET", "/users/me/subscriptions", { query });
      expect(whole.map(({ id }: Row) => id)).to.deep.equal(ids);
    }
  });

  it("find auto subscriptions by their listener", async () => {
    const [ledger, archive] = [await webhook("Ledger"), await webhook("Archive")];
    const ids: string[] = [];
    for (const listener_id of [ledger, archive]) {
      const query = { event_name: "$errors", listener_id };
      ids.push((await api.expect(200, "POST", "/auto_subscriptions", { query })).id);
    }
    expect(await idsOf("auto_subscriptions", { q: "ledger" })).to.deep.equal([ids[0]]);
    expect(await idsOf("auto_subscriptions", { q: ids[1] ?? "" })).to.deep.equal([ids[1]]);
  });

  it("are those of the pages and of the count, too", async () => {
    for (let i = 0; i < 3; i++) {
      await webhook(`kept ${i}`);
      await webhook(`other ${i}`);
    }
    const first = await page("webhooks", { q: "kept", limit: 2 });
    expect(first.page_info).to.include({ total_count: 3, count: 2 });
    expect(first.data.map(({ name }) => name)).to.deep.equal(["kept 2", "kept 1"]);
    const after = first.page_info.end_cursor ?? "";
    const second = await page("webhooks", { q: "kept", limit: 2, after });
    expect(second.data.map(({ name }) => name)).to.deep.equal(["kept 0"]);
    expect(second.page_info.total_count).to.equal(3);
    const before = second.page_info.start_cursor ?? "";
    const back = await page("webhooks", { q: "kept", limit: 2, before });
    expect(back.data.map(({ name }) => name)).to.deep.equal(["kept 2", "kept 1"]);
  });

  it("find nothing of another account", async () => {
    const other = await system.user();
    const theirs = await other.expect(201, "POST", "/workflows", { body: { name: "Their secret" } });
    const hook = await other.createWebhook("https://secret.example.com/", { name: "Their secret" });
    await other.subscribe(theirs.id, hook.id);
    for (const list of ["workflows", "webhooks", "subscriptions"]) {
      expect(await idsOf(list, { q: "secret" }), list).to.deep.equal([]);
    }
    expect(await idsOf("subscriptions", { q: hook.id })).to.deep.equal([]);
    for (const query of [{ emitter_id: theirs.id }, { listener_id: hook.id }] as Query[]) {
      const { status } = await api.request("GET", "/users/me/subscriptions", { query });
      expect(status, JSON.stringify(query)).to.equal(404);
    }
  });

  it("find the subscriptions to an account's alerts by the account", async () => {
    const { id } = await api.subscribe(api.userId, await webhook("Ops"), "$alerts");
    expect(await idsOf("subscriptions", { emitter_id: api.userId })).to.deep.equal([id]);
    const { status } = await api.request("GET", "/users/me/subscriptions", { query: { emitter_id: "x" } });
    expect(status).to.equal(400);
  });
});
