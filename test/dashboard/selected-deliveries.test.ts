// runs-long: npm test has test/deliveries/selected.test.ts, and the walk of test/dashboard/story.test.ts

import { readFileSync } from "node:fs";
import { expect } from "chai";
import type { Browser, Download } from "playwright-core";
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

const CODE = "export default { name: 'Till', version: '0.0.1', run() {} };";
const MANY = 60;
const HOSTILE = "=HYPERLINK(1)";

describe("a list of the dashboard whose rows are worked on together", () => {
  let browser: Browser;
  let system: System;
  let receiver: Receiver;
  let api: Api;
  let tab: Tab;
  let source: string;

  before(async function () {
    browser = await browserOrSkip(this);
    system = await startSystem({ DELIVERY_RETRY_SCHEDULE: "1h" });
    receiver = await startReceiver(503);
    api = await system.user({ plan: "paid" });
    source = (await api.createSource({ component_code: CODE, name: HOSTILE })).id;
    const webhook = await api.createWebhook(receiver.url, { name: "shop" });
    await api.subscribe(source, webhook.id);
    const events = Array.from({ length: MANY }, (_, n) => ({ event: { order: n, of: "the shop" } }));
    await api.expect(202, "POST", `/sources/${source}/events`, { body: { events } });
    await until(async () => (await total({})) === MANY, { what: "deliveries" });
    tab = await openTab(browser, system);
    await signIn(tab, api);
    await settled(tab.page);
  });
  after(async () => {
    await tab?.close();
    await browser?.close();
    await receiver?.close();
    await system?.stop();
  });

  const total = async (query: Record<string, string>): Promise<number> =>
    (await api.request("GET", "/deliveries", { query })).body.page_info.total_count;
  const rows = () => tab.page.locator("main tbody tr");
  const shows = (count: number) =>
    until(async () => (await rows().count()) === count, { what: `${count} rows` });
  const dialog = () => tab.page.getByRole("dialog");
  const open = async (path: string) => {
    await tab.open(path);
    await settled(tab.page);
  };

  it("says of each delivery what the event is, why it failed, and when, as text that can be selected", async () => {
    const { page } = tab;
    await open("/deliveries");
    await shows(50);
    const row = rows().first();
    await row.getByText('{"order":').waitFor();
    const why = row.getByText("HTTP status 503");
    await why.waitFor();
    expect(await row.innerText()).to.match(/\d\d:\d\d:\d\d/);
    await why.dblclick();
    // biome-ignore lint/suspicious/noExplicitAny: the DOM has no types here
    expect(await page.evaluate(() => String((globalThis as any).getSelection()))).to.not.equal("");
    expect(new URL(page.url()).pathname, "a selection leads nowhere").to.match(/\/deliveries$/);
    await keepScreenshot(page, "deliveries-1280");
    expect(await seriousFindings(page)).to.deep.equal([]);
  });

  it("cancels those that are selected by the keyboard, and says how many", async () => {
    const { page } = tab;
    await open("/deliveries?state=pending");
    await shows(50);
    const boxes = page.getByRole("checkbox", { name: /^Select dlv_/ });
    for (const n of [0, 1]) {
      await boxes.nth(n).focus();
      await page.keyboard.press("Space");
    }
    await page.getByText("2 selected").waitFor();
    await page.getByRole("button", { name: "Cancel …" }).focus();
    await page.keyboard.press("Enter");
    await dialog().getByText("They are not attempted again").waitFor();
    await dialog().getByRole("button", { name: "Cancel 2" }).click();
    await dialog().getByText("2 of 2 deliveries cancelled.").waitFor();
    await dialog().getByRole("button", { name: "Close" }).click();
    expect(await total({ state: "cancelled" })).to.equal(2);
    await page.getByText("Select page").waitFor();
  });

  it("retries a page of them, and says truthfully what can't be done", async () => {
    const { page } = tab;
    await open("/deliveries");
    await shows(50);
    await page.getByLabel("Select page").check();
    await page.getByText("50 selected").waitFor();
    await page.getByRole("button", { name: "Cancel …" }).click();
    await dialog()
      .getByText(/48 of them are pending/)
      .waitFor();
    await page.keyboard.press("Escape");
    receiver.script(...Array.from({ length: MANY }, () => 200));
    await page.getByRole("button", { name: "Retry …" }).click();
    await dialog().getByRole("button", { name: "Retry 50" }).click();
    await dialog().getByText("50 of 50 deliveries on the way again.").waitFor();
    await dialog().getByRole("button", { name: "Close" }).click();
    await until(async () => (await total({ state: "delivered" })) === 50, { what: "50 are delivered" });
    await page.getByLabel("Select page").check();
    await page.getByRole("button", { name: "Retry …" }).click();
    await dialog()
      .getByText(/arrived already, and will be sent once more/)
      .waitFor();
    await page.keyboard.press("Escape");
  });

  it("is exported as CSV and JSON, all of its pages as they are narrowed, and harmless in a spreadsheet", async () => {
    const { page } = tab;
    const saved = async (format: "CSV" | "JSON"): Promise<{ name: string; text: string }> => {
      await page.getByRole("button", { name: "Export …" }).click();
      const downloading = page.waitForEvent("download");
      await dialog().getByRole("button", { name: format }).click();
      const download: Download = await downloading;
      await dialog()
        .getByText(/rows saved as/)
        .waitFor();
      await dialog().getByRole("button", { name: "Close" }).click();
      return { name: download.suggestedFilename(), text: readFileSync(await download.path(), "utf8") };
    };
    await open("/deliveries");
    await shows(50);
    const csv = await saved("CSV");
    expect(csv.name).to.equal("deliveries.csv");
    const [head, ...lines] = csv.text.trimEnd().split("\r\n");
    expect(head).to.match(/^id,.*webhook_name.*emitter_name.*last_attempt_status/);
    expect(lines).to.have.length(MANY);
    expect(csv.text).to.include(`'${HOSTILE}`).and.not.include("the shop");
    await open("/deliveries?state=delivered");
    await shows(50);
    const json = JSON.parse((await saved("JSON")).text);
    expect(json).to.have.length(50);
    expect(json[0]).to.include({ state: "delivered", emitter_name: HOSTILE });
  });

  it("keeps its order in the address, which Back takes back, and the place on the page", async () => {
    const { page } = tab;
    await Promise.all(
      Array.from({ length: 45 }, (_, n) =>
        api.createWebhook(`https://example.com/${n}`, { name: `hook ${n}` }),
      ),
    );
    await open("/webhooks");
    await shows(46);
    await page.getByLabel("Order").selectOption("last_event");
    await until(async () => (await rows().first().innerText()).startsWith("shop"), {
      what: "the one that was used is first",
    });
    expect(new URL(page.url()).searchParams.get("sort")).to.equal("last_event");
    // biome-ignore lint/suspicious/noExplicitAny: the DOM has no types here
    const placeOf = () => page.evaluate(() => (globalThis as any).scrollY);
    await rows().nth(30).scrollIntoViewIfNeeded();
    await page.mouse.wheel(0, 400);
    await until(async () => (await placeOf()) > 300, { what: "scrolled" });
    await page.waitForTimeout(300);
    const place = await placeOf();
    await rows().nth(35).locator("a.title").click();
    await page.getByRole("navigation", { name: "Breadcrumb" }).waitFor();
    await page.goBack();
    await shows(46);
    await until(async () => Math.abs((await placeOf()) - place) < 50, { what: "the place it was left at" });
    expect(await page.getByLabel("Order").inputValue()).to.equal("last_event");
    await page.goBack();
    await until(async () => (await page.getByLabel("Order").inputValue()) === "", { what: "no order" });
    await keepScreenshot(page, "webhooks-1280");
    expect(await seriousFindings(page)).to.deep.equal([]);
  });

  it("is saved under a name with its filters, as a link that this browser keeps", async () => {
    const { page } = tab;
    await open("/webhooks?q=shop");
    await shows(1);
    await page.getByRole("button", { name: "Save this view" }).click();
    await page.getByLabel("Name of the view").fill("On fire");
    await page.keyboard.press("Enter");
    const view = page.getByRole("link", { name: "On fire" });
    await view.waitFor();
    await open("/webhooks");
    await shows(46);
    await view.click();
    await shows(1);
    expect(await view.getAttribute("aria-current")).to.equal("page");
    expect(await seriousFindings(page)).to.deep.equal([]);
    await page.getByRole("button", { name: "Delete the view On fire" }).click();
    await view.waitFor({ state: "detached" });
  });

  it("fits a phone", async () => {
    const phone = await openTab(browser, system, { width: 390, colours: "dark" });
    await signIn(phone, api, "/deliveries");
    await settled(phone.page);
    const overflow = await phone.page.locator("html").evaluate(root => root.scrollWidth);
    expect(overflow).to.be.at.most(390);
    await keepScreenshot(phone.page, "deliveries-390");
    expect(await seriousFindings(phone.page)).to.deep.equal([]);
    await phone.close();
  });

  it("meets no error of the browser on the way", () => {
    expect(tab.problems).to.deep.equal([]);
  });
});
