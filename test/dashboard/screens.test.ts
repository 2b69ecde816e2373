// runs-long: npm test has test/dashboard/story.test.ts, a whole walk in a browser

import { expect } from "chai";
import type { Browser } from "playwright-core";
import { raiseAlert } from "../../src/alerts/raise.ts";
import { publishGallery } from "../../src/gallery/publish-gallery.ts";
import { readShipped } from "../../src/gallery/shipped.ts";
import type { Api, SourceView } from "../support/api.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";
import { misfits } from "./fits.ts";
import {
  browserOrSkip,
  keepScreenshot,
  type Look,
  openTab,
  seriousFindings,
  settled,
  signIn,
} from "./signed-in.ts";

/** Emits what it receives, logs, throws on request; markup of its own in everything that a page shows. */
const CODE = `export default { name: "Orders <b>x</b>", version: "0.0.1",
  props: {
    http: "$.interface.http",
    label: { type: "string", label: "Label <i>y</i>", description: "Shown in events.", default: "order" },
    token: { type: "string", label: "Token", secret: true, optional: true },
    kind: { type: "string", label: "Kind", options: ["new", "old"], default: "new" },
    tags: { type: "string[]", label: "Tags", optional: true },
    loud: { type: "boolean", label: "Loud", default: false },
  },
  run({ body }) {
    console.log("<img src=x onerror=alert(1)>", body.name);
    if (body.name === "fail") throw new Error("<script>no order</script>");
    this.$emit({ ...body, html: "<img src=x onerror=alert(1)>" }, { name: body.channel ?? "", summary: body.name });
  } };`;

const TIMER = `export default { name: "Heartbeat", version: "1.0.0",
  props: { timer: { type: "$.interface.timer", default: { cron: "*/5 * * * *", timezone: "Europe/Berlin" } } },
  run() { this.$emit({ beat: 1 }); } };`;

const ACTION = `export default { name: "Note", version: "0.0.1", type: "action", props: { note: "string" }, run() {} };`;
const FUNCTION = "export default event => (event.total > 5 ? event : null);";

/** With the rules of axe that can differ from the first: all of them take a second a page. */
const LOOKS: { look: Look; rules: string[] }[] = [
  { look: {}, rules: [] },
  { look: { colours: "dark" }, rules: ["color-contrast"] },
  { look: { width: 390 }, rules: ["scrollable-region-focusable", "color-contrast"] },
];
const nameOf = ({ width = 1280, colours = "light" }: Look) => `${width}-${colours}`;

describe("every screen of the dashboard", function () {
  this.timeout(240_000);
  let browser: Browser;
  let system: System;
  let api: Api & { userId: string };
  let receiver: Receiver;
  let source: SourceView;
  const paths: Record<string, string> = {};

  before(async function () {
    browser = await browserOrSkip(this);
    system = await startSystem();
    api = await system.user();
    // A receiver's response is a stranger's text too.
    receiver = await startReceiver({ status: 200, body: "<script>document.title = 'ran'</script>" });
    source = await api.createSource({ component_code: CODE, name: "orders" });
    const timer = await api.createSource({ component_code: TIMER, name: "heartbeat" });
    const webhook = await api.createWebhook(receiver.url, { name: "Billing" });
    // Known by its address alone, which is longer than any screen is wide.
    const nameless = await api.createWebhook(`${receiver.url}/v2/${"tenant-northwind/".repeat(6)}events`);
    await api.subscribe(source.id, nameless.id);
    await api.expect(200, "POST", "/subscriptions", {
      query: { emitter_id: source.id, listener_id: webhook.id },
      body: { filter: { name: { $ne: "left out" } } },
    });
    const endpoint = source.configured_props.http?.endpoint_url ?? "";
    for (const body of [
      { name: "Ada", total: 7.5, items: [{ sku: "a" }] },
      { name: "fail" },
      { name: "left out" },
    ]) {
      await fetch(endpoint, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
    }
    const delivery = await until(async () => {
      const { data } = await api
        .expect(200, "GET", `/webhooks/${webhook.id}/deliveries`)
        .then(data => ({ data }));
      return data.find((one: { state: string }) => one.state === "delivered");
    });
    const organization = await system.organization(api.userId);
    await api.expect(200, "POST", "/subscriptions", {
      query: { emitter_id: source.id, listener_id: webhook.id },
      body: { function: FUNCTION },
    });
    const { id: subscription } = (await api.expect(200, "GET", "/users/me/subscriptions"))[0];
    const fields = { api_key: "a key" };
    await api.expect(201, "POST", "/connections", {
      body: { app: "weather", name: "Weather <b>x</b>", fields },
    });
    const redis_stream = { url: "redis://redis.example.com:6380", stream: "orders" };
    const stream = await api.expect(201, "POST", "/destinations", { body: { name: "Stream", redis_stream } });
    const action = await api.expect(201, "POST", "/destinations", {
      body: {
        name: "Notes",
        action: { component_code: ACTION, configured_props: { note: "{{event.name}}" } },
      },
    });
    await raiseAlert(system.worker, {
      ownerId: api.userId,
      type: "webhook.failing",
      subject: { id: webhook.id, name: "Billing" },
      sinceMs: Date.now(),
      message: `every attempt to deliver to webhook "<b>Billing</b>" (${webhook.id}) has failed`,
    });
    await until(async () => (await api.expect(200, "GET", "/users/me/$alerts/event_summaries")).length > 0);
    await publishGallery(system.web, await readShipped());
    Object.assign(paths, {
      overview: "",
      start: "/start",
      sources: "/sources",
      "sources-none": "/sources?q=nothing+has+this+name",
      "source-new": "/sources/new",
      gallery: "/gallery",
      "gallery-entry": "/gallery/headwater-http-poll",
      source: `/sources/${source.id}`,
      "source-runs": `/sources/${source.id}/runs`,
      "source-logs": `/sources/${source.id}/logs`,
      "source-statistics": `/sources/${source.id}/statistics`,
      "source-verification": `/sources/${source.id}/verification`,
      "source-settings": `/sources/${source.id}/settings`,
      "source-timer": `/sources/${timer.id}/settings`,
      "source-code": `/sources/${source.id}/code`,
      "source-versions": `/sources/${source.id}/versions`,
      components: "/components",
      component: `/components/${source.component_id}`,
      "source-deploy": `/components/${source.component_id}/deploy`,
      "action-deploy": `/components/${action.action.component_id}/deploy`,
      webhooks: "/webhooks",
      "webhook-new": "/webhooks?new=1",
      webhook: `/webhooks/${webhook.id}`,
      "webhook-deliveries": `/webhooks/${webhook.id}/deliveries`,
      "webhook-signing": `/webhooks/${webhook.id}/signing`,
      "webhook-settings": `/webhooks/${webhook.id}/settings`,
      agents: "/agents",
      deliveries: "/deliveries",
      delivery: `/deliveries/${delivery.id}`,
      event: `/events/${source.id}/${delivery.event_id}`,
      run: `/runs/${delivery.run_id}`,
      subscriptions: "/subscriptions",
      "subscription-new": "/subscriptions?new=1",
      subscription: `/subscriptions/${subscription}`,
      workflows: "/workflows",
      map: "/map",
      "map-around": `/map?node=${source.id}`,
      queues: "/queues",
      replays: "/replays",
      connections: "/connections",
      "connections-none": `/connections?org=${organization}`,
      destinations: "/destinations",
      "destination-new": "/destinations?new=1",
      destination: `/destinations/${stream.id}`,
      "destination-deliveries": `/destinations/${stream.id}/deliveries`,
      "destination-settings": `/destinations/${stream.id}/settings`,
      "action-settings": `/destinations/${action.id}/settings`,
      help: "/help",
      alerts: "/alerts",
      "alerts-organization": `/alerts?org=${organization}`,
      keys: "/keys",
      sessions: "/sessions",
      usage: "/usage",
      organizations: "/organization",
      organization: `/organization?org=${organization}`,
      "organization-sources": `/sources?org=${organization}`,
      echo: `/echo/${timer.id}`,
      unknown: "/no-such-page",
    });
  });
  after(async () => {
    await browser?.close();
    await receiver?.close();
    await system?.stop();
  });

  for (const { look, rules } of LOOKS) {
    it(`has no error and no serious finding of axe, and fits the screen, at ${nameOf(look)}`, async () => {
      const tab = await openTab(browser, system, look);
      try {
        await signIn(tab, api);
        const findings: string[] = [];
        for (const [name, path] of Object.entries(paths)) {
          // Once each by its address; then as links do, which is sooner there.
          await (rules.length === 0 ? tab.open(path) : tab.go(path));
          await settled(tab.page);
          await keepScreenshot(tab.page, `${name}-${nameOf(look)}`);
          findings.push(...(await seriousFindings(tab.page, rules)).map(one => `${name}: ${one}`));
          findings.push(...(await misfits(tab.page)).map(one => `${name}: ${one}`));
        }
        expect([...tab.problems, ...findings].join("\n")).to.equal("");
      } finally {
        await tab.close();
      }
    });
  }

  it("shows what strangers send as text", async () => {
    const tab = await openTab(browser, system);
    try {
      await signIn(tab, api);
      for (const name of ["source", "source-logs", "event", "delivery", "source-settings", "component"]) {
        await tab.open(paths[name] ?? "");
        await settled(tab.page);
        for (const line of await tab.page.locator(".event-line").all()) await line.click();
        expect(await seriousFindings(tab.page), `${name}, all of it open`).to.deep.equal([]);
        expect(
          await tab.page.locator("main img, main script, main b:not([class]), main i").count(),
          name,
        ).to.equal(0);
      }
      await tab.open(paths.event ?? "");
      await tab.page.getByText("<img src=x onerror=alert(1)>").first().waitFor();
      expect(await tab.page.title()).to.equal("Where did it go? · Headwater");
    } finally {
      await tab.close();
    }
  });

  it("shows what was dropped on purpose, how often, and why", async () => {
    const tab = await openTab(browser, system);
    try {
      await signIn(tab, api, `${paths.source}`);
      const dropped = tab.page
        .locator("section")
        .filter({ has: tab.page.getByText("Dropped on purpose") })
        .last();
      await dropped.getByText("Filtered").waitFor();
      expect(await dropped.locator("dd").allTextContents()).to.include(
        "1 left out by the filter of a subscription",
      );
    } finally {
      await tab.close();
    }
  });

  it("shows another tenant nothing of a permalink", async () => {
    const stranger = await system.user();
    const tab = await openTab(browser, system);
    try {
      await signIn(tab, stranger);
      for (const name of ["source", "webhook", "delivery", "event", "component"]) {
        await tab.open(paths[name] ?? "");
        await tab.page.getByText("There is nothing here").waitFor();
        expect(await tab.page.locator("body").textContent(), name).not.to.match(/orders|Billing|Ada/i);
      }
    } finally {
      await tab.close();
    }
  });
});
