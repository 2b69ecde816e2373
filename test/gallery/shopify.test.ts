import { createHmac } from "node:crypto";
import { expect } from "chai";
import type { Sandboxes } from "../../src/sandbox/sandboxes.ts";
import { openTestSandboxes } from "../examples/open-example.ts";
import { openSource } from "./open-shipped.ts";
import { type ShopifySubscription, startShopify, type Vendor } from "./vendors.ts";

const ENDPOINT = "http://127.0.0.1/in/x";
const SECRET = "shpss_1";
const ORDER = { id: 820982911946154, name: "#1001", total_price: "129.00" };

describe("the gallery's source of Shopify", () => {
  let sandboxes: Sandboxes;
  let shopify: Vendor<ShopifySubscription>;
  before(async () => {
    sandboxes = await openTestSandboxes();
  });
  after(() => sandboxes?.close());
  beforeEach(async () => {
    shopify = await startShopify("shpat_1");
    const others = ["ORDERS_CREATE", "ORDERS_PAID", "PRODUCTS_UPDATE"];
    for (const topic of others) shopify.hooks.push({ id: topic, topic, uri: "https://other.example/" });
  });
  afterEach(() => shopify.close());

  const open = (given: object = {}) =>
    openSource(sandboxes, "headwater-shopify-events", {
      ...{ shop: "my-shop.myshopify.com", token: "shpat_1", clientSecret: SECRET, api: shopify.url },
      ...{ topics: ["ORDERS_CREATE", "ORDERS_PAID"], ...given },
    });
  const ours = () => shopify.hooks.filter(({ uri }) => uri === ENDPOINT).map(({ topic }) => topic);
  const sent = (topic: string, id = "e-1", secret = SECRET) => {
    const bodyRaw = JSON.stringify(ORDER);
    const signature = createHmac("sha256", secret).update(bodyRaw).digest("base64");
    return {
      ...{
        method: "POST",
        path: "/",
        query: {},
        url: ENDPOINT,
        client_ip: "192.0.2.1",
        bodyRaw,
        body: ORDER,
      },
      headers: {
        ...{ "x-shopify-topic": topic, "x-shopify-event-id": id, "x-shopify-hmac-sha256": signature },
        "x-shopify-shop-domain": "my-shop.myshopify.com",
        "x-shopify-triggered-at": "2026-11-29T08:00:00.123456789Z",
      },
    };
  };

  it("registers each topic once, also after a crash, and takes its own away and no other", async () => {
    const source = await open();
    expect((await source.call("activate")).failed).to.equal(null);
    expect(ours()).to.deep.equal(["ORDERS_CREATE", "ORDERS_PAID"]);
    const again = await open({ topics: ["ORDERS_PAID", "PRODUCTS_UPDATE", "ORDERS_PAID"] });
    expect((await again.call("activate")).failed, "what the crash left has been made before").to.equal(null);
    expect(ours()).to.deep.equal(["ORDERS_PAID", "PRODUCTS_UPDATE"]);
    expect((await source.call("deactivate")).failed).to.equal(null);
    expect([ours(), shopify.hooks.length]).to.deep.equal([[], 3]);
    expect((await source.call("deactivate")).failed, "somebody deleted them there").to.equal(null);
  });

  it("leaves nothing behind if one topic of several can't be registered, and says why", async () => {
    const failed = await (await open({ topics: ["ORDERS_CREATE", "NOTHING"] })).call("activate");
    expect(failed.failed).to.match(/^Shopify: Variable \$topic was provided invalid value/);
    expect(ours()).to.deep.equal([]);
    const wrong = await (await open({ token: "shpat_2" })).call("activate");
    expect(wrong.failed)
      .to.match(/status 401: .*Invalid API key or access token/)
      .and.not.include("shpat_2");
    for (const topics of [[], Array.from({ length: 51 }, (_, n) => `T${n}`)]) {
      expect((await (await open({ topics })).call("activate")).failed).to.match(/^Topics: /);
    }
    expect(ours()).to.deep.equal([]);
  });

  it("offers the topics that the shop's API has", async () => {
    expect(await (await open()).choices("topics")).to.deep.equal([
      ...["ORDERS_CREATE", "ORDERS_PAID", "PRODUCTS_UPDATE"],
    ]);
  });

  it("asks the shop alone, whatever is entered as its name", async () => {
    for (const shop of ["evil.example", "a.myshopify.com.evil.example", "my-shop/..", "a@evil.example", ""]) {
      const { failed } = await (await open({ api: "", shop })).call("activate");
      expect(failed, shop).to.match(/Shop: must be the name of a shop|shop is required/);
    }
    const { failed } = await (await open({ api: "", shop: "https://My-Shop.myshopify.com/" })).call(
      "activate",
    );
    expect(failed)
      .to.match(/My-Shop\.myshopify\.com/i)
      .and.not.match(/must be the name/);
  });

  it("emits what is signed, once for each topic", async () => {
    const source = await open();
    await source.call("activate");
    const { emits } = await source.run(sent("orders/create"));
    expect(emits.map(({ event }) => event)).to.deep.equal([
      {
        ...{ topic: "orders/create", shop: "my-shop.myshopify.com" },
        ...{ happened_at: "2026-11-29T08:00:00.123456789Z", payload: ORDER },
      },
    ]);
    expect(emits[0]?.metadata).to.include({
      ...{ id: "e-1:orders/create", summary: "orders/create #1001", ts: 1_795_939_200_123 },
    });
    expect(await source.events(sent("orders/create")), "delivered again").to.deep.equal([]);
    expect(await source.events(sent("orders/paid")), "of the same event").to.have.length(1);
    expect(await source.events(sent("orders/create", "e-2", "a guess"))).to.deep.equal([]);
  });
});
