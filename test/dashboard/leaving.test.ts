// runs-long: npm test has test/dashboard/story.test.ts, a whole walk in a browser

import { expect } from "chai";
import type { Browser, Page } from "playwright-core";
import type { Api } from "../support/api.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";
import { browserOrSkip, keepScreenshot, openTab, settled, signIn, type Tab } from "./signed-in.ts";

const CODE = `export default { name: "Left", version: "0.0.1",
  props: { http: "$.interface.http", rules: { type: "object", label: "Rules", optional: true } },
  run() {} };`;
const EVENTS = 30;

interface Form {
  what: string;
  path: (things: Things) => string;
  /** What opens it, after the screen is shown. */
  open?: (page: Page) => Promise<void>;
  label: string;
}

interface Things {
  source: string;
  webhook: string;
  destination: string;
}

const press = (name: string) => (page: Page) =>
  page.getByRole("button", { name, exact: true }).first().click();

/** Those of a page are left by a link and by Back; those of a dialog by Escape as well. */
const PAGES: Form[] = [
  {
    what: "the settings of a source",
    path: ({ source }) => `/sources/${source}/settings`,
    label: "Rules (optional)",
  },
  {
    what: "the settings of a webhook",
    path: ({ webhook }) => `/webhooks/${webhook}/settings`,
    label: "Description",
  },
  {
    what: "the settings of a destination",
    path: ({ destination }) => `/destinations/${destination}/settings`,
    label: "Stream",
  },
];
const DIALOGS: Form[] = [
  { what: "a new webhook", path: () => "/webhooks", open: press("New webhook"), label: "Address" },
  { what: "a new destination", path: () => "/destinations", open: press("New destination"), label: "Stream" },
  { what: "a new subscription", path: () => "/subscriptions?new=1", label: "Filter" },
  { what: "a new connection", path: () => "/connections", open: press("Connect"), label: "Name" },
  { what: "a new key", path: () => "/keys", open: press("New key"), label: "Name" },
];

describe("leaving a screen", () => {
  let browser: Browser;
  let system: System;
  let receiver: Receiver;
  let api: Api;
  let things: Things;
  let tab: Tab;
  let page: Page;

  before(async function () {
    browser = await browserOrSkip(this);
    system = await startSystem();
    receiver = await startReceiver();
    api = await system.user();
    const source = (await api.createSource({ component_code: CODE, name: "left" })).id;
    const webhook = (await api.createWebhook(receiver.url, { name: "Billing" })).id;
    await api.subscribe(source, webhook);
    const redis_stream = { url: "redis://127.0.0.1:9", stream: "s" };
    const destination = (await api.expect(201, "POST", "/destinations", { body: { redis_stream } })).id;
    things = { source, webhook, destination };
    const events = Array.from({ length: EVENTS }, (_, n) => ({ event: { n } }));
    await api.expect(202, "POST", `/sources/${source}/events`, { body: { events } });
    await until(() => receiver.requests.length === EVENTS);
    tab = await openTab(browser, system, { height: 500 });
    page = tab.page;
    await signIn(tab, api);
  });
  after(async () => {
    await browser?.close();
    await receiver?.close();
    await system?.stop();
  });

  const question = () => page.getByRole("dialog").filter({ hasText: "Leave without saving?" });
  const stay = async () => {
    await question().waitFor();
    await question().getByRole("button", { name: "Cancel" }).click();
    await question().waitFor({ state: "detached" });
  };
  const show = async ({ path, open, label }: Form) => {
    await tab.open("/start");
    await tab.go(path(things));
    await settled(page);
    await open?.(page);
    const field = page.getByRole("textbox", { name: label, exact: true });
    await field.fill("{}");
    return field;
  };
  const asksAtEnd = () =>
    page.evaluate(() => {
      // biome-ignore lint/suspicious/noExplicitAny: the DOM has no types here
      const { dispatchEvent, Event } = globalThis as any;
      return !dispatchEvent(new Event("beforeunload", { cancelable: true }));
    });

  for (const form of PAGES) {
    it(`asks before what was changed in ${form.what} is lost`, async () => {
      const field = await show(form);
      expect(await asksAtEnd()).to.equal(true);
      await page.getByRole("link", { name: "Alerts" }).click();
      await stay();
      await page.goBack();
      await stay();
      expect(await field.inputValue()).to.equal("{}");
      await page.getByRole("link", { name: "Alerts" }).click();
      await question().getByRole("button", { name: "Leave" }).click();
      await page.getByRole("heading", { name: "Alerts", exact: true }).waitFor();
      expect(await asksAtEnd()).to.equal(false);
    });
  }

  for (const form of DIALOGS) {
    it(`asks before what was typed for ${form.what} is lost`, async () => {
      const field = await show(form);
      await page.keyboard.press("Escape");
      await stay();
      expect(await field.inputValue()).to.equal("{}");
      await page.goBack();
      await stay();
      await page.keyboard.press("Escape");
      await question().getByRole("button", { name: "Leave" }).click();
      await field.waitFor({ state: "detached" });
      expect(await asksAtEnd()).to.equal(false);
    });
  }

  for (const [what, path, begin, label, create] of [
    ["key", "/keys", "New key", "Name", "Create key"],
    ["signing key", "/webhooks", "New webhook", "Address", "Create webhook"],
  ] as const) {
    it(`closes a ${what} that is shown only once by its button, and by no key`, async () => {
      await tab.open("/start");
      await tab.go(path);
      await settled(page);
      await press(begin)(page);
      await page.getByRole("textbox", { name: label, exact: true }).fill("http://127.0.0.1:9/kept");
      await press(create)(page);
      const dialog = page.getByRole("dialog").filter({ hasText: "shown only now" });
      await dialog.waitFor();
      for (let n = 0; n < 3; n += 1) await page.keyboard.press("Escape");
      expect(await dialog.isVisible()).to.equal(true);
      expect(await question().count()).to.equal(0);
      await page.goBack();
      await question().getByText("It is shown only now.").waitFor();
      await question().getByRole("button", { name: "Cancel" }).click();
      await dialog.getByRole("button", { name: "I have kept it" }).click();
      await dialog.waitFor({ state: "detached" });
      expect(await asksAtEnd()).to.equal(false);
    });
  }

  it("says what is wrong with a field in its own words, until it is another", async () => {
    await tab.open(`/webhooks/${things.webhook}/settings`);
    const rate = page.getByLabel("Attempts per second");
    await rate.fill("99999999");
    await press("Save")(page);
    const fault = page.getByText(/^Attempts per second must be at most [\d,]+\.$/);
    await fault.waitFor();
    expect(await page.getByRole("alert").count(), "said once").to.equal(0);
    await rate.fill("5");
    await fault.waitFor({ state: "detached" });
    expect(await rate.getAttribute("aria-invalid")).to.equal(null);
    await page.reload();

    await tab.open(`/sources/${things.source}/settings`);
    const rules = page.getByLabel("Rules (optional)");
    await rules.fill("[1]");
    await press("Save")(page);
    await page.getByText(/^Rules [a-z].*\.$/).waitFor();
    await rules.fill("{");
    await page.getByText("This is not JSON yet.").waitFor();
    await press("Save")(page);
    await rules.fill('{ "a": 1 }');
    await page.getByText("This is not JSON yet.").waitFor({ state: "detached" });
    await press("Save")(page);
    await page.getByText("Saved.").waitFor();
    const { configured_props } = await api.expect(200, "GET", `/sources/${things.source}`);
    expect(configured_props.rules).to.deep.equal({ a: 1 });
  });

  it("goes back to the filtered list where it was scrolled to, and then to the list without the filter", async () => {
    const scrolled = () => page.evaluate("scrollY") as Promise<number>;
    await tab.open("/deliveries");
    await settled(page);
    await page.getByLabel("State").selectOption("delivered");
    await until(() => page.url().includes("state=delivered"));
    await settled(page);
    const link = page.getByRole("row").getByRole("link").nth(30);
    await link.scrollIntoViewIfNeeded();
    const before = await scrolled();
    expect(before).to.be.greaterThan(100);
    await link.click();
    await page.getByRole("heading", { name: "Delivery" }).waitFor();
    await until(async () => (await scrolled()) === 0);
    await page.goBack();
    await until(() => page.url().includes("state=delivered"));
    await until(async () => Math.abs((await scrolled()) - before) < 5, { what: "the list is where it was" });
    await page.goBack();
    await until(() => !page.url().includes("state=delivered"));
    expect(new URL(page.url()).pathname).to.match(/\/deliveries$/);
    expect(await page.getByLabel("State").inputValue()).to.equal("");
  });

  for (const width of [1280, 390]) {
    it(`shows the whole of a moment, with its time of day, at ${width} px`, async () => {
      const other = await openTab(browser, system, { width });
      await signIn(other, api, "/deliveries?since=2026-11-26T10:11:12Z");
      const from = other.page.getByLabel("From");
      await from.waitFor();
      const [own, natural] = await from.evaluate(field => {
        // biome-ignore lint/suspicious/noExplicitAny: the DOM has no types here
        const element = field as any;
        const shown = element.offsetWidth;
        element.style.cssText = "width: max-content; max-width: none; flex: none; justify-self: start";
        return [shown, element.offsetWidth];
      });
      expect(own).to.be.at.least(natural);
      await keepScreenshot(other.page, `deliveries-from-${width}`);
      expect(await from.inputValue()).to.match(/T\d\d:11:12$/);
      await other.close();
    });
  }

  it("meets no error of the browser on the way", () => {
    expect(tab.problems.filter(one => !/status of 4\d\d/.test(one))).to.deep.equal([]);
  });
});
