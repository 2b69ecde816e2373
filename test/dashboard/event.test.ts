// runs-long: npm test has test/dashboard/story.test.ts, a whole walk in a browser
import { readFile } from "node:fs/promises";
import { expect } from "chai";
import type { Browser, Page } from "playwright-core";
import { StoredEvents } from "../../src/models/event.ts";
import type { Api } from "../support/api.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";
import {
  browserOrSkip,
  keepScreenshot,
  openTab,
  seriousFindings,
  settled,
  signIn,
  type Tab,
} from "./signed-in.ts";

const CODE = `export default { name: "Quiet", version: "0.0.1", run() {} };`;
/** Longer than a summary holds. */
const EVENT = { note: "long ".repeat(500), last: "the very end" };

describe("the pages of an event and of a delivery", () => {
  let browser: Browser;
  let system: System;
  let receiver: Receiver;
  let api: Api;
  let source: string;
  let delivery: { id: string; event_id: string; webhook_id: string };
  let tab: Tab;
  let page: Page;

  before(async function () {
    browser = await browserOrSkip(this);
    system = await startSystem({
      DELIVERY_RETRY_SCHEDULE: "50ms,1h",
      TRACE_URL: "https://traces.test/{trace_id}",
    });
    receiver = await startReceiver(503, 503);
    api = await system.user();
    source = (await api.createSource({ component_code: CODE, name: "quiet" })).id;
    const webhook = await api.expect(201, "POST", "/webhooks", {
      query: { url: receiver.url, name: "Billing" },
      body: { headers: { authorization: "Bearer s3cret-value" } },
    });
    await api.subscribe(source, webhook.id);
    await api.expect(202, "POST", `/sources/${source}/events`, { body: { event: EVENT } });
    delivery = await until(async () => {
      const [row] = await api.expect(200, "GET", "/deliveries");
      return row?.attempts_made === 2 && row;
    });
    // Then it is no longer among the last 100.
    const events = Array.from({ length: 100 }, (_, n) => ({ event: { n } }));
    await api.expect(202, "POST", `/sources/${source}/events`, { body: { events } });
    await until(async () => (await api.summaries(source)).every(({ id }) => id !== delivery.event_id));
    tab = await openTab(browser, system);
    page = tab.page;
    await signIn(tab, api);
  });
  after(async () => {
    await browser?.close();
    await receiver?.close();
    await system?.stop();
  });

  const open = async (path: string) => {
    await tab.open(path);
    await settled(page);
  };
  const command = () => page.getByRole("region", { name: "The event as curl" });

  it("show all of an event that is larger than its summary and has left the last 100", async () => {
    await open(`/events/${source}/${delivery.event_id}`);
    await page.getByText('"the very end"', { exact: true }).waitFor();
    expect(await command().textContent()).to.include(JSON.stringify({ event: EVENT }));
  });

  it("show what each attempt sent, and no secret", async () => {
    await open(`/deliveries/${delivery.id}`);
    await page.getByText("x-headwater-attempt: 2").first().waitFor();
    const shown = (await page.locator("main").textContent()) ?? "";
    for (const [i, { headers }] of receiver.requests.slice(0, 2).entries()) {
      expect(shown).to.include(
        `webhook-timestamp: ${headers["webhook-timestamp"]} · x-headwater-attempt: ${i + 1}`,
      );
      expect(shown).not.to.include(headers["webhook-signature"]);
    }
    expect(shown).to.include(`POST ${receiver.url}`);
    expect(shown).to.include(`webhook-id: ${delivery.id}`);
    expect(shown).to.include("authorization: (never shown)");
    expect(shown).to.include("the very end");
    expect(shown).not.to.include("s3cret-value");
    expect(await seriousFindings(page)).to.deep.equal([]);
  });

  it("show a payload as it is, and save it", async () => {
    await open(`/deliveries/${delivery.id}`);
    await page.getByRole("button", { name: "Raw" }).click();
    const raw = page.getByRole("region", { name: "JSON" });
    expect(await raw.textContent()).to.equal(JSON.stringify(EVENT, null, 2));
    const saving = page.waitForEvent("download");
    await page.getByRole("button", { name: "Save" }).click();
    const saved = await saving;
    expect(saved.suggestedFilename()).to.equal(`${delivery.event_id}.json`);
    expect(JSON.parse(await readFile(await saved.path(), "utf8"))).to.deep.equal(EVENT);
    await page.getByRole("button", { name: "Tree" }).click();
    expect(await raw.count()).to.equal(0);
  });

  it("publish an event like it, with changes, and leave it as it was", async () => {
    await open(`/events/${source}/${delivery.event_id}`);
    await page.getByRole("button", { name: "Edit and publish …" }).click();
    const field = page.getByLabel("Event", { exact: true });
    expect(JSON.parse(await field.inputValue())).to.deep.equal(EVENT);
    await field.fill('{ "note": "mended", ');
    await page.getByRole("button", { name: "Publish", exact: true }).click();
    await page.getByText("This is not JSON").waitFor();
    expect(await seriousFindings(page)).to.deep.equal([]);
    await keepScreenshot(page, "event-edited");
    await field.fill('{ "note": "mended" }');
    await page.getByRole("button", { name: "Publish", exact: true }).click();
    await page.getByText("Published as a new event.").waitFor();
    await until(async () => (await api.summaries(source)).some(one => /mended/.test(JSON.stringify(one))));
    await open(`/events/${source}/${delivery.event_id}`);
    await page.getByText('"the very end"', { exact: true }).waitFor();
  });

  it("are led to from a chart with the keyboard, which says its numbers without a pointer", async () => {
    // What happened is counted every few seconds.
    await until(async () => (await api.expect(200, "GET", "/stats")).total.attempts > 0);
    await open(`/webhooks/${delivery.webhook_id}`);
    await until(async () => {
      const legends = await page.locator(".u-legend").allTextContents();
      return legends.length === 2 && /Median\s*\d+ m?s.*percentile\s*\d+ m?s/s.test(legends[1] ?? "");
    });
    const latest = page.locator("section").filter({ hasText: "Latest deliveries" }).locator("tbody tr");
    expect(await latest.count()).to.equal(5);
    await page.getByText("As a table").focus();
    await page.keyboard.press("Enter");
    const link = page.locator("details").getByRole("link").first();
    await link.waitFor();
    expect(await seriousFindings(page)).to.deep.equal([]);
    await keepScreenshot(page, "chart-as-table");
    await link.press("Enter");
    await page.getByRole("heading", { name: "Deliveries", level: 1 }).waitFor();
    expect(new URL(page.url()).searchParams.get("webhook_id")).to.equal(delivery.webhook_id);
    expect(new URL(page.url()).searchParams.has("since")).to.equal(true);
  });

  it("name the trace of an event, and lead to where it is shown", async () => {
    const trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    const { event_id } = delivery;
    const set = { trace: `00-${trace}-00f067aa0ba902b7-01` };
    await StoredEvents(system.web.mongo).updateOne({ emitter_id: source, event_id }, { $set: set });
    await open(`/events/${source}/${event_id}`);
    const link = page.getByRole("link", { name: "Show trace" });
    expect(await link.getAttribute("href")).to.equal(`https://traces.test/${trace}`);
    await page.getByText(trace, { exact: true }).waitFor();
    expect(await seriousFindings(page)).to.deep.equal([]);
  });

  it("say that an event's data is gone, and offer no command that would publish a part of it", async () => {
    await StoredEvents(system.web.mongo).deleteMany({ emitter_id: source });
    await open(`/deliveries/${delivery.id}`);
    await page.getByText("The event is no longer kept").waitFor();
    const { id } = (await api.summaries(source))[0] ?? { id: "" };
    await open(`/events/${source}/${id}`);
    await command().waitFor();
    await api.expect(202, "POST", `/sources/${source}/events`, { body: { event: EVENT } });
    const [large] = await until(async () => {
      const rows = await api.summaries(source);
      return rows[0]?.metadata.truncated && rows;
    });
    await until(
      async () =>
        (await StoredEvents(system.web.mongo).deleteMany({ emitter_id: source, event_id: large?.id ?? "" }))
          .deletedCount === 1,
    );
    await open(`/events/${source}/${large?.id}`);
    await page.getByText("Its data is no longer kept.").waitFor();
    expect(await command().count()).to.equal(0);
  });

  it("meet no error of the browser on the way", () => {
    expect(tab.problems).to.deep.equal([]);
  });
});
