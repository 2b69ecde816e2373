// runs-long: npm test has test/dashboard/story.test.ts, a whole walk in a browser

import { expect } from "chai";
import type { Browser, Page } from "playwright-core";
import type { Api } from "../support/api.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";
import { browserOrSkip, openTab, settled, signIn, type Tab } from "./signed-in.ts";

const CODE = `export default { name: "Quiet", version: "0.0.1", run() {} };`;
/** More than a page of each list. */
const MANY = 101;

describe("long and filtered lists of the dashboard", () => {
  let browser: Browser;
  let system: System;
  let receiver: Receiver;
  let api: Api & { userId: string };
  let tab: Tab;
  let page: Page;
  let webhook: string;
  /** The oldest of many, which is on no first page. */
  let oldest: string;

  before(async function () {
    browser = await browserOrSkip(this);
    system = await startSystem({ DELIVERY_RETRY_SCHEDULE: "50ms", PAYLOAD_SEARCH_WORDS: "0" });
    receiver = await startReceiver(302);
    api = await system.user({ plan: "paid" });
    const first = await api.createSource({ component_code: CODE, name: "the-oldest" });
    oldest = first.id;
    const { component_id } = first;
    webhook = (await api.createWebhook(receiver.url, { name: "Failing" })).id;
    for (let made = 0; made < MANY; made += 10) {
      const some = Array.from({ length: Math.min(10, MANY - made) }, (_, i) => `source-${made + i}`);
      await Promise.all(some.map(name => api.createSource({ component_id, name })));
    }
    await api.subscribe(oldest, webhook);
    await api.expect(202, "POST", `/sources/${oldest}/events`, { body: { event: { n: 1 } } });
    await until(async () => {
      const [row] = await api.expect(200, "GET", "/deliveries");
      return row?.state === "failed";
    });
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
  const query = () => new URL(page.url()).searchParams;
  const deliveries = () => page.getByRole("row").filter({ hasText: "Event" }).locator("a.title");
  const nothingMatches = () => page.getByText("Nothing matches").waitFor();
  const shown = () => until(async () => (await deliveries().count()) === 1);

  it("show a failing webhook with its success rate, p95, since when it fails, and when it will be disabled", async () => {
    await until(async () => {
      await open("/webhooks");
      const cells = await page
        .getByRole("row")
        .filter({ hasText: "Failing" })
        .last()
        .locator("td")
        .allInnerTexts();
      const [, health, success, p95, since, disabled] = cells.map(text => text.trim());
      return (
        health === "Failing" &&
        success === "0%" &&
        /^[\d.]+ m?s$/.test(p95 ?? "") &&
        / ago$/.test(since ?? "") &&
        /^in [45] ?d/.test(disabled ?? "")
      );
    });
  });

  it("filter deliveries by any status and by a class of them", async () => {
    await open("/deliveries");
    const field = page.getByLabel("Response");
    for (const [text, isFound] of [
      ["302", true],
      ["404", false],
      ["3XX", true],
    ] as const) {
      await field.fill(text);
      await field.press("Enter");
      await (isFound ? shown() : nothingMatches());
      expect(query().get("status")).to.equal(text.toLowerCase());
    }
    await field.fill("30");
    await field.press("Enter");
    expect(
      await field.evaluate(one => (one as unknown as { matches(of: string): boolean }).matches(":invalid")),
    ).to.equal(true);
    expect(query().get("status")).to.equal("3xx");
  });

  it("filter deliveries by days, and by moments that the address has for readers of every zone", async () => {
    await open("/deliveries");
    await page.getByLabel("Time").selectOption("last 30 days");
    await shown();
    expect(query().get("hours")).to.equal("720");
    await page.getByLabel("Time").selectOption("from … to …");
    await page.getByLabel("From").fill("2020-01-01T10:00");
    await page.getByLabel("To").fill("2020-01-02T10:00");
    await nothingMatches();
    expect(query().get("since")).to.match(/^20(19-12-31|20-01-01)T\d\d:\d\d:00Z$/);
    await open("/deliveries?since=2020-01-01T10:00:00Z");
    await shown();
    expect(await page.getByLabel("From").inputValue()).to.match(/^20(19|20)-\d\d-\d\dT/);
    await open("/deliveries?since=yesterday");
    await page.getByText(/since/i).first().waitFor();
    await page.getByRole("button", { name: "Try again" }).waitFor();
    tab.problems.length = 0;
  });

  it("find an emitter beyond the first page by its name as one types, and any by its id", async () => {
    await open("/deliveries");
    const field = page.getByLabel("Emitter");
    await field.fill("the-old");
    await page.locator(`datalist option[value="the-oldest"]`).waitFor({ state: "attached" });
    await field.fill("the-oldest");
    await field.press("Enter");
    await shown();
    expect(query().get("emitter_id")).to.equal(oldest);
    await page.getByLabel("Webhook").fill(webhook);
    await page.getByLabel("Webhook").press("Enter");
    await until(() => query().get("webhook_id") === webhook);
    await until(async () => (await page.getByLabel("Webhook").inputValue()) === "Failing");
    await page.getByLabel("Webhook").fill("no such name");
    await page.getByLabel("Webhook").press("Enter");
    expect(query().get("webhook_id")).to.equal(webhook);
  });

  it("search sources of all pages", async () => {
    await open("/sources");
    await page.getByRole("link", { name: `source-${MANY - 1}`, exact: true }).waitFor();
    expect(await page.getByRole("link", { name: "the-oldest" }).count()).to.equal(0);
    await page.getByLabel("Search sources").fill("the-oldest");
    await page.getByRole("link", { name: "the-oldest" }).waitFor();
    await page.getByText("1 in all").waitFor();
  });

  it("edit a subscription that is not on the page, and subscribe what is on none", async () => {
    const { id } = await api.expect(200, "POST", "/subscriptions", {
      query: { emitter_id: oldest, listener_id: webhook, event_name: "first" },
      body: { filter: { theOne: true } },
    });
    for (let n = 0; n < 51; n += 1) await api.subscribe(oldest, webhook, `later-${n}`);
    await open(`/subscriptions?edit=${id}`);
    const dialog = page.getByRole("dialog");
    await until(async () =>
      (await dialog.getByRole("textbox", { name: "Filter" }).inputValue()).includes("theOne"),
    );
    await open("/subscriptions?new=1");
    await dialog.getByLabel("From").fill("the-old");
    await page.locator(`datalist option[value="the-oldest"]`).first().waitFor({ state: "attached" });
    await dialog.getByLabel("From").fill("the-oldest");
    await dialog.getByLabel("Channel").fill("typed");
    await dialog.getByLabel("To").fill(webhook);
    await dialog.getByLabel("Channel").focus();
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "detached" });
    const made = (await api.expect(200, "GET", "/users/me/subscriptions", { query: { limit: 1 } }))[0];
    expect(made).to.include({ emitter_id: oldest, listener_id: webhook, event_name: "typed" });
  });

  it("say that payloads are not searched where the server has it off", async () => {
    await open("/deliveries");
    const field = page.getByLabel("Words in the payload");
    expect(await field.isDisabled()).to.equal(true);
    expect(await field.getAttribute("aria-description")).to.include("PAYLOAD_SEARCH_WORDS");
  });

  it("meet no error of the browser on the way", () => {
    expect(tab.problems).to.deep.equal([]);
  });
});
