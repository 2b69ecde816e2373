import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import type { Browser } from "playwright-core";
import { createUser } from "../../src/accounts/users.ts";
import { Webhooks } from "../../src/models/webhook.ts";
import { hourOf, Rollups, rollupId } from "../../src/store/activity.ts";
import { read } from "../docs/repository.ts";
import { Api } from "../support/api.ts";
import { root } from "../support/built.ts";
import { type Receiver, type Reply, startReceiver } from "../support/receiver.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";
import { browserOrSkip, keepScreenshot, openTab, settled, signIn } from "./signed-in.ts";

const PICTURE = "docs/images/dashboard.png";

/** Whose address the commands of the page have. */
const HOST = "events.northwind.example";

const CODE = `export default { name: "Orders", version: "1.4.0", props: { http: "$.interface.http" },
  run({ body }) { this.$emit(body, { id: body.id, name: "paid", summary: body.id + " paid" }); } };`;

const ok = (body: string): Reply => ({
  status: 200,
  headers: { "content-type": "application/json" },
  body,
});

/** What the account sends where, and how that goes. */
const WEBHOOKS: { source: string; name: string; reply: Reply; events: number }[] = [
  { source: "shop-orders", name: "Warehouse", reply: ok('{"picked":true}'), events: 3 },
  {
    source: "shop-orders",
    name: "Invoices",
    reply: { status: 503, body: "database is restarting" },
    events: 2,
  },
  { source: "crm-contacts", name: "Newsletter", reply: ok('{"subscribed":true}'), events: 2 },
  {
    source: "crm-contacts",
    name: "Old CRM",
    reply: { status: 410, body: "this account has moved" },
    events: 1,
  },
  { source: "payments", name: "Bookkeeping", reply: ok('{"booked":true}'), events: 2 },
];

const HOURS = 24;
const HOUR_S = 3600;

/** A day of a shop, of which an hour went badly. */
const countsOf = (hour: number) => {
  const emitted = Math.round(900 + 700 * Math.sin((hour / HOURS) * 2 * Math.PI - 1.2));
  const failed = hour === 20 ? 96 : hour === 21 ? 31 : hour % 7 === 3 ? 2 : 0;
  return {
    emitted,
    delivered: 2 * emitted - failed,
    attempts: 2 * emitted + failed,
    failed,
    retried: 3 * failed,
  };
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

  /** Makes the sources, webhooks and deliveries of the account, and what was counted in the day before. */
  async function fill(api: Api, userId: string): Promise<void> {
    const sources = new Map<string, string>();
    for (const { source: name, name: to, reply, events } of WEBHOOKS) {
      const receiver = await startReceiver(reply);
      receivers.push(receiver);
      const source = sources.get(name) ?? (await api.createSource({ component_code: CODE, name })).id;
      sources.set(name, source);
      const webhook = await api.createWebhook(receiver.url, { name: to });
      await api.subscribe(source, webhook.id, to);
      const made = Array.from({ length: events }, (_, n) => ({ event: { order: 2041 + n }, name: to }));
      await api.expect(202, "POST", `/sources/${source}/events`, { body: { events: made } });
    }
    const now = hourOf(Date.now());
    const expires_at = new Date(Date.now() + 86_400_000);
    await Rollups(system.web.mongo).insertMany(
      Array.from({ length: HOURS - 1 }, (_, hour) => ({
        _id: rollupId(userId, now - (HOURS - 1 - hour) * HOUR_S),
        ...{ counts: countsOf(hour), dropped: {}, latency: { 50: 100 }, expires_at },
      })),
    );
  }

  const agoMs = (name: string, fields: Record<string, number>) => {
    const $set = Object.fromEntries(Object.entries(fields).map(([field, ms]) => [field, Date.now() - ms]));
    return Webhooks(system.web.mongo).updateOne({ name }, { $set });
  };

  it("shows the overview: what needs somebody and why, what is emitted and delivered, and the latest deliveries", async () => {
    const { id, api_key } = await createUser(system.worker, { email: "ada@northwind.example" });
    const api = new Api(system.baseUrl, api_key);
    await fill(api, id);
    await until(async () => {
      const { needs, retries } = await api.expect(200, "GET", "/attention");
      return needs.disabled === 1 && needs.failing === 1 && retries.count === 2;
    });
    // They have been broken for longer than this test takes.
    await agoMs("Old CRM", { disabled_at_ms: 3 * HOUR_S * 1000 });
    await agoMs("Invoices", { failing_since_ms: 41 * 60_000 });
    const tab = await openTab(browser, { baseUrl: `http://${HOST}/v1` }, { height: 990 });
    await signIn(tab, api);
    await settled(tab.page);
    for (const text of ["Needs attention", "Old CRM", "Status 503", "Events per hour", "Latest deliveries"]) {
      await tab.page.getByText(text).first().waitFor();
    }
    await tab.page.locator(".u-legend").waitFor();
    await keepScreenshot(tab.page, "readme", false);
    // The name is made up, and has no certificate.
    expect(tab.problems.filter(one => !one.includes("untrustworthy"))).to.deep.equal([]);
    expect(read("README.md")).to.include(`](${PICTURE})`);
    if (process.env.PICTURE) copyFileSync(join(root, ".cache/screenshots/readme.png"), join(root, PICTURE));
  });
});
