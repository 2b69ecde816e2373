import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import type { Browser } from "playwright-core";
import { createUser } from "../../src/accounts/users.ts";
import { read } from "../docs/repository.ts";
import { Api } from "../support/api.ts";
import { root } from "../support/built.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";
import { browserOrSkip, keepScreenshot, openTab, settled, signIn } from "./signed-in.ts";

const PICTURE = "docs/images/dashboard.png";

/** Whose address the commands of the page have. */
const HOST = "events.northwind.example";

const CODE = `export default { name: "Orders", version: "1.4.0", props: { http: "$.interface.http" },
  run({ body }) { this.$emit(body, { id: body.id, name: "paid", summary: body.id + " paid" }); } };`;

const ORDER = {
  id: "order-2041",
  total: 129.9,
  currency: "EUR",
  customer: { name: "Ada Lovelace", country: "GB" },
  items: [
    { sku: "lamp-brass", quantity: 1, price: 89.9 },
    { sku: "bulb-e27", quantity: 4, price: 10 },
  ],
};

// `npm run docs:picture` keeps the picture; each run makes it, so that it can be made.
describe("the picture of the README", () => {
  let browser: Browser;
  let system: System;
  const receivers: Receiver[] = [];

  before(async function () {
    system = await startSystem({ DELIVERY_RETRY_SCHEDULE: "1s,1h" });
    browser = await browserOrSkip(this, [HOST], Number(new URL(system.baseUrl).port));
  });
  after(async () => {
    await browser?.close();
    for (const receiver of receivers) await receiver.close();
    await system?.stop();
  });

  it("shows where an event went: a receiver that failed and was tried again, and a filter that left it out", async () => {
    const { api_key } = await createUser(system.worker, { email: "ada@northwind.example" });
    const api = new Api(system.baseUrl, api_key);
    const source = await api.createSource({ component_code: CODE, name: "shop-orders" });
    const subscribe = async (name: string, receiver: Receiver, filter?: Record<string, unknown>) => {
      receivers.push(receiver);
      const { id } = await api.createWebhook(receiver.url, { name });
      const query = { emitter_id: source.id, listener_id: id, event_name: "paid" };
      await api.expect(200, "POST", "/subscriptions", { query, ...(filter && { body: { filter } }) });
    };
    const ok = (body: string) => ({ status: 200, headers: { "content-type": "application/json" }, body });
    await subscribe("Warehouse", await startReceiver(ok('{"picked":true}')));
    await subscribe(
      "Invoices",
      await startReceiver({ status: 503, body: "database is restarting" }, ok('{"invoice":"2026-0417"}')),
    );
    await subscribe("Big orders", await startReceiver(200), { total: { $gte: 500 } });
    await fetch(source.configured_props.http?.endpoint_url ?? "", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(ORDER),
    });
    const event = await until(async () => (await api.summaries(source.id))[0]?.id);
    await until(async () => {
      const rows = await api.expect(200, "GET", "/deliveries", { query: { state: "delivered" } });
      return rows.length === 2;
    });
    const tab = await openTab(browser, { baseUrl: `http://${HOST}/v1` }, { height: 990 });
    await signIn(tab, api, `/events/${source.id}/${event}`);
    await settled(tab.page);
    for (const text of ["Attempt 2", "database is restarting", "Filtered out", "Warehouse", "Ada Lovelace"]) {
      await tab.page.getByText(text).first().waitFor();
    }
    await keepScreenshot(tab.page, "readme");
    // The name is made up, and has no certificate.
    expect(tab.problems.filter(one => !one.includes("untrustworthy"))).to.deep.equal([]);
    expect(read("README.md")).to.include(`](${PICTURE})`);
    if (process.env.PICTURE) copyFileSync(join(root, ".cache/screenshots/readme.png"), join(root, PICTURE));
  });
});
