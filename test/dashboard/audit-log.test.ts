// runs-long: npm test has test/audit/audit-log.test.ts, which asks the API
import { expect } from "chai";
import type { Browser } from "playwright-core";
import { setOperator } from "../../src/accounts/operators.ts";
import { recordOfOperator } from "../../src/audit/record.ts";
import { Api } from "../support/api.ts";
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

describe("the audit log in the dashboard", () => {
  let browser: Browser;
  let system: System;
  let api: Api & { userId: string };
  let tab: Tab;
  const ids: Record<"orders" | "gone" | "inTeam" | "team", string> = {} as never;

  before(async function () {
    browser = await browserOrSkip(this);
    system = await startSystem({}, { workers: false });
    api = await system.user();
    const { api_key } = await api.expect(201, "POST", "/api_keys", { body: { name: "deploy script" } });
    const script = new Api(api.baseUrl, api_key);
    const url = "https://example.com/hook";
    ids.orders = (await script.createWebhook(url, { name: "orders" })).id;
    ids.gone = (await script.createWebhook(url, { name: "old orders" })).id;
    await api.expect(200, "PUT", `/webhooks/${ids.orders}`, { body: { url: `${url}/new`, ordered: true } });
    await api.expect(204, "DELETE", `/webhooks/${ids.gone}`);
    ids.team = await system.organization(api.userId);
    ids.inTeam = (await api.createWebhook(url, { name: "of the team", org_id: ids.team })).id;
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
  const query = () => Object.fromEntries(new URL(tab.page.url()).searchParams);

  it("has a line for each change: when, who, what, and from where", async () => {
    await tab.page.getByRole("link", { name: "Audit log" }).click();
    await settled(tab.page);
    await shows(6);
    const text = (await rows().nth(2).textContent()) ?? "";
    expect(text)
      .to.match(/Webhook updated/)
      .and.to.match(/url, ordered/);
    expect(text).to.include("orders").and.to.include("127.0.0.1");
    expect(await rows().nth(4).textContent()).to.include("key “deploy script” (hw_");
    expect(await rows().nth(0).textContent()).to.include("dashboard");
    expect(await rows().nth(2).locator("time").getAttribute("title")).to.match(/\d{4}/);
    expect(await rows().nth(2).getByRole("link", { name: "orders" }).getAttribute("href")).to.equal(
      `/dashboard/webhooks/${ids.orders}`,
    );
    // What is deleted leads nowhere.
    expect(await rows().getByRole("link", { name: "old orders" }).count()).to.equal(0);
    expect(await seriousFindings(tab.page)).to.deep.equal([]);
    await keepScreenshot(tab.page, "audit-log");
  });

  it("is narrowed by what is in its lines, which Back takes back", async () => {
    const { page } = tab;
    await tab.go("/audit-log");
    await rows().getByRole("link", { name: "Webhook deleted" }).click();
    await shows(1);
    expect(query()).to.deep.equal({ action: "webhook.deleted" });
    await page.goBack();
    await shows(6);
    await page.getByLabel("Thing").fill(ids.gone);
    await page.keyboard.press("Enter");
    await shows(2);
    await page.getByLabel("User, key or session").fill("headwater");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Nothing matches" }).waitFor();
    await page.getByRole("button", { name: "Clear filters" }).click();
    await page.getByLabel("Time").selectOption("1");
    await shows(6);
    expect(query()).to.deep.equal({ hours: "1" });
  });

  it("says who changed a thing, from the page of the thing", async () => {
    const { page } = tab;
    await tab.go(`/webhooks/${ids.orders}`);
    await settled(page);
    await page.getByRole("link", { name: "Who changed this?" }).click();
    await shows(2);
    expect(query()).to.deep.equal({ thing_id: ids.orders });
  });

  it("is that of an organization, with its things", async () => {
    const { page } = tab;
    await tab.go(`/webhooks/${ids.inTeam}?org=${ids.team}`);
    await settled(page);
    await page.getByRole("link", { name: "Who changed this?" }).click();
    await shows(1);
    expect(query()).to.deep.equal({ thing_id: ids.inTeam, org: ids.team });
    expect(await rows().textContent()).to.include("of the team");
  });

  it("is that of the installation, for an operator who chooses it", async () => {
    const olga = await system.user();
    await setOperator(system.worker, olga.userId, true);
    await recordOfOperator(system.worker, { action: "app.saved", thing: { id: "github", name: "GitHub" } });
    const other = await openTab(browser, system);
    await signIn(other, olga, "/audit-log");
    await settled(other.page);
    await other.page.getByLabel("Log", { exact: true }).selectOption("Of the installation");
    const row = other.page.locator("main tbody tr", { hasText: "App saved" });
    await row.waitFor();
    expect(await row.textContent())
      .to.include("The operator")
      .and.to.include("GitHub");
    expect(new URL(other.page.url()).searchParams.get("of")).to.equal("installation");
    expect(await seriousFindings(other.page)).to.deep.equal([]);
    await keepScreenshot(other.page, "audit-log-installation");
    expect(other.problems).to.deep.equal([]);
    await other.close();
    expect(await tab.page.getByLabel("Log", { exact: true }).count(), "of who is no operator").to.equal(0);
  });

  it("fits a telephone, and the dark", async () => {
    const narrow = await openTab(browser, system, { width: 390, colours: "dark" });
    await signIn(narrow, api, "/audit-log");
    await settled(narrow.page);
    await narrow.page.locator("main tbody tr").first().waitFor();
    const overflow = await narrow.page.evaluate(
      // biome-ignore lint/suspicious/noExplicitAny: the DOM has no types here
      () => (globalThis as any).document.documentElement.scrollWidth,
    );
    expect(overflow).to.be.at.most(390);
    expect(await seriousFindings(narrow.page)).to.deep.equal([]);
    await keepScreenshot(narrow.page, "audit-log-narrow");
    expect([...narrow.problems, ...tab.problems]).to.deep.equal([]);
    await narrow.close();
  });
});
