// runs-long: npm test has test/http/account-lists.test.ts, and the filters of deliveries in test/dashboard/actions.test.ts
import { expect } from "chai";
import type { Browser } from "playwright-core";
import type { Api } from "../support/api.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";
import { browserOrSkip, openTab, seriousFindings, settled, signIn, type Tab } from "./signed-in.ts";

const CODE = "export default { name: 'Till', version: '0.0.1', run() {} };";
const MANY = 120;

describe("lists of many things in the dashboard", () => {
  let browser: Browser;
  let system: System;
  let api: Api;
  let tab: Tab;
  const ids: Record<string, string> = {};

  before(async function () {
    browser = await browserOrSkip(this);
    system = await startSystem();
    api = await system.user({ plan: "paid" });
    const source = await api.createSource({ component_code: CODE, name: "shop till" });
    const first = await api.createWebhook("https://example.com/oldest", { name: "the oldest one" });
    await api.subscribe(source.id, first.id);
    for (let n = 0; n < MANY; n++) await api.createWebhook(`https://example.com/${n}`, { name: `hook ${n}` });
    await api.expect(200, "PUT", `/webhooks/${first.id}`, { body: { active: false } });
    Object.assign(ids, { source: source.id, webhook: first.id });
    tab = await openTab(browser, system);
    await signIn(tab, api);
    await settled(tab.page);
  });
  after(async () => {
    await tab?.close();
    await browser?.close();
    await system?.stop();
  });

  const rows = () => tab.page.locator("main tbody tr");
  const shows = (count: number) =>
    until(async () => (await rows().count()) === count, { what: `${count} rows` });

  it("are narrowed by a text and by a state, which Back takes back", async () => {
    const { page } = tab;
    await tab.open("/webhooks");
    await settled(page);
    await shows(50);
    await page.getByRole("searchbox", { name: "Search webhooks" }).fill("OLDEST");
    await page.keyboard.press("Enter");
    await shows(1);
    await rows().getByText("the oldest one").waitFor();
    expect(new URL(page.url()).searchParams.get("q")).to.equal("OLDEST");
    await page.goBack();
    await shows(50);
    await page.getByLabel("State").selectOption("disabled");
    await shows(1);
    expect(await seriousFindings(page)).to.deep.equal([]);
  });

  it("name what is older than the newest hundred", async () => {
    await tab.open(`/subscriptions?listener_id=${ids.webhook}`);
    await settled(tab.page);
    await shows(1);
    await rows().getByText("the oldest one").waitFor();
    await rows().getByText("shop till").waitFor();
  });

  it("are sorted by what they connect, in the address", async () => {
    const { page } = tab;
    const [newest] = await api.expect<{ id: string }[]>(200, "GET", "/users/me/webhooks");
    const made = [
      await api.subscribe("dc_*", newest?.id ?? ""),
      await api.subscribe("dc_*", ids.webhook ?? ""),
    ];
    await tab.open("/subscriptions");
    await settled(page);
    const shown = async (...names: string[]) =>
      await until(
        async () => (await rows().locator("td:nth-child(3)").allTextContents()).join() === names.join(),
        { what: names.join() },
      );
    const [first, last] = ["the oldest one", `hook ${MANY - 1}`];
    await shown(first, last, first);
    await page.getByLabel("Order").selectOption("By listener");
    await shown(first, first, last);
    expect(new URL(page.url()).searchParams.get("sort")).to.equal("listener");
    expect(await seriousFindings(page)).to.deep.equal([]);
    await page.goBack();
    await shown(first, last, first);
    for (const { id } of made) await api.expect(204, "DELETE", `/subscriptions/${id}`);
  });

  it("are on the pages of both sides of a subscription, to add one and to end one", async () => {
    const { page } = tab;
    await tab.open(`/webhooks/${ids.webhook}/subscriptions`);
    await settled(page);
    await shows(1);
    expect(await seriousFindings(page)).to.deep.equal([]);
    await rows().getByRole("link", { name: "shop till" }).click();
    const tabs = page.getByRole("navigation", { name: "Source", exact: true });
    await tabs.getByRole("link", { name: "Subscriptions" }).click();
    await shows(1);
    await rows().getByText("the oldest one").waitFor();
    await page.getByRole("button", { name: "Delete subscription" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByText("No subscription names it").waitFor();
    await page.getByRole("link", { name: "Add" }).click();
    await page.getByRole("dialog").waitFor();
  });

  it("meet no error of the browser on the way", () => {
    expect(tab.problems).to.deep.equal([]);
  });
});
