// runs-long: npm test has test/dashboard/story.test.ts, a whole walk in a browser
import { expect } from "chai";
import type { Browser } from "playwright-core";
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

const CODE = "export default { name: 'Till', version: '0.0.1', props: { http: '$.interface.http' } };";

describe("finding anything in the dashboard", () => {
  let browser: Browser;
  let system: System;
  let api: Api;
  let tab: Tab;
  let printer: Receiver;
  const ids: Record<string, string> = {};

  before(async function () {
    browser = await browserOrSkip(this);
    system = await startSystem({ DELIVERY_RETRY_SCHEDULE: "1s", PAYLOAD_SEARCH_WORDS: "50" });
    api = await system.user({ plan: "paid" });
    printer = await startReceiver({ status: 503, body: "out of paper" });
    const source = await api.createSource({ component_code: CODE, name: "shop till" });
    const webhook = await api.createWebhook(new URL("/receipts", printer.url).href, {
      name: "receipt printer",
    });
    await api.subscribe(source.id, webhook.id);
    await api.expect(202, "POST", `/sources/${source.id}/events`, {
      body: { event: { order: "order-4711" } },
    });
    const [failed] = await until(async () => {
      const rows = await api.expect<{ id: string; event_id: string }[]>(200, "GET", "/deliveries", {
        query: { state: "failed" },
      });
      return rows.length === 1 && rows;
    });
    Object.assign(ids, {
      source: source.id,
      webhook: webhook.id,
      delivery: failed?.id,
      event: failed?.event_id,
    });
    tab = await openTab(browser, system);
    await signIn(tab, api);
    await settled(tab.page);
  });
  after(async () => {
    await tab?.close();
    await printer?.close();
    await browser?.close();
    await system?.stop();
  });

  /** Types a text into the palette, and takes the first result once it has this text. */
  const find = async (text: string, result: string) => {
    const { page } = tab;
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: /An id, a name/ }).fill(text);
    const first = page.getByRole("option").first();
    await until(async () => (await first.innerText()).includes(result), { what: `${result} for ${text}` });
    await page.keyboard.press("Enter");
    await settled(page);
  };
  const showsCause = () => tab.page.getByText("out of paper").first().waitFor();

  it("leads from the webhook-id that a customer has to the reason of the failure", async () => {
    await find(ids.delivery ?? "", "delivery");
    await showsCause();
  });

  it("leads from an event's id to the same reason", async () => {
    await find(ids.event ?? "", ids.event ?? "");
    await showsCause();
  });

  it("leads from a word of the event to the same reason", async () => {
    await find("order-4711", "delivery");
    await showsCause();
  });

  for (const [what, text] of [
    ["name", "RECEIPT pri"],
    ["URL", "/receipts"],
  ] as const) {
    it(`leads from a part of the webhook's ${what} to its page, which says why it fails`, async () => {
      await find(text, "receipt printer");
      expect(tab.page.url()).to.include(ids.webhook);
      await showsCause();
    });
  }

  it("goes to a screen by its name, with the keyboard alone, and back to where it was", async () => {
    const { page } = tab;
    await tab.open("/webhooks");
    await settled(page);
    await page.locator("main h1").click();
    await page.keyboard.press("/");
    await page.keyboard.type("usage");
    await page.getByRole("option", { name: /Usage/ }).waitFor();
    expect(await seriousFindings(page), "the palette").to.deep.equal([]);
    await keepScreenshot(page, "palette");
    await page.getByRole("combobox", { name: /An id, a name/ }).press("Enter");
    await page.getByRole("heading", { name: "Usage", level: 1 }).waitFor();
    await page.goBack();
    await page.getByRole("heading", { name: "Webhooks", level: 1 }).waitFor();
  });

  it("says so when nothing is found, and takes no key from a field", async () => {
    const { page } = tab;
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: /An id, a name/ }).fill("/?no such thing");
    await page.getByText("Nothing has this id, name, address or word.").waitFor();
    expect(await page.getByRole("dialog").count()).to.equal(1);
    await page.keyboard.press("Escape");
    await until(async () => (await page.getByRole("dialog").count()) === 0);
    await page.keyboard.press("?");
    await page.getByRole("heading", { name: "Keys" }).waitFor();
    await page.keyboard.press("Escape");
  });

  it("meets no error of the browser on the way", () => {
    expect(tab.problems).to.deep.equal([]);
  });
});
