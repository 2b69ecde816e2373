// runs-long: npm test has test/dashboard/story.test.ts, a whole walk in a browser

import { expect } from "chai";
import type { Browser, Page } from "playwright-core";
import type { Api, SourceView } from "../support/api.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";
import { browserOrSkip, openTab, settled, signIn, type Tab } from "./signed-in.ts";

const CODE = `export default { name: "Ends", version: "0.0.1", props: { hook: "$.interface.http" }, run() {} };`;

const endpointOf = ({ configured_props }: SourceView): string =>
  (configured_props as { hook?: { endpoint_url: string } }).hook?.endpoint_url ?? "";

// In order: what listens goes before what emits, and the sessions last.
describe("what a reader ends in the dashboard", () => {
  let browser: Browser;
  let system: System;
  let receiver: Receiver;
  let api: Api & { userId: string };
  let source: SourceView;
  let webhook: string;
  let subscription: string;
  let tab: Tab;
  let page: Page;

  before(async function () {
    browser = await browserOrSkip(this);
    system = await startSystem({ DELIVERY_RETRY_SCHEDULE: "100ms" });
    receiver = await startReceiver();
    api = await system.user();
    source = await api.createSource({ component_code: CODE, name: "ends" });
    webhook = (await api.createWebhook(receiver.url, { name: "Billing" })).id;
    subscription = (await api.subscribe(source.id, webhook)).id;
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
  const button = (name: string) => page.getByRole("button", { name, exact: true });
  const dialog = () => page.getByRole("dialog");
  const status = async (path: string) => (await api.request("GET", path)).status;

  it("retries what failed in an outage, counted before", async () => {
    receiver.script(503);
    const events = [{ event: { n: 1 } }, { event: { n: 2 } }];
    await api.expect(202, "POST", `/sources/${source.id}/events`, { body: { events } });
    const failed = async () =>
      (await api.request("GET", "/deliveries", { query: { state: "failed" } })).body.page_info.total_count;
    await until(async () => (await failed()) === 2);
    receiver.script(200);
    const sent = receiver.requests.length;
    await open(`/webhooks/${webhook}`);
    await button("Last 24 hours").click();
    await dialog().getByText("2 failed deliveries are sent again.").waitFor();
    await dialog().getByRole("button", { name: "Cancel" }).click();
    await dialog().waitFor({ state: "detached" });
    expect(receiver.requests.length).to.equal(sent);
    await button("Last 7 days").click();
    await dialog().getByRole("button", { name: "Retry 2" }).click();
    await page.getByText("They are on their way.").waitFor();
    await until(() => receiver.requests.length === sent + 2);
    await until(async () => (await failed()) === 0);
    // Nothing is left to retry, and the page says so.
    await button("Last 24 hours").click();
    await page.getByText("No delivery has failed since then.").waitFor();
    expect(await dialog().count()).to.equal(0);
  });

  it("ends a subscription, asked before", async () => {
    await open("/subscriptions");
    const row = page.getByRole("row").filter({ hasText: "Billing" });
    await row.getByRole("button", { name: "Delete subscription" }).click();
    await dialog().getByRole("button", { name: "Cancel" }).click();
    await dialog().waitFor({ state: "detached" });
    expect(await status(`/subscriptions/${subscription}`)).to.equal(200);
    await row.getByRole("button", { name: "Delete subscription" }).click();
    await dialog().getByRole("heading", { name: "Delete this subscription?" }).waitFor();
    await button("Delete").click();
    await page.getByText("The subscription is deleted.").waitFor();
    await row.waitFor({ state: "detached" });
    expect(await status(`/subscriptions/${subscription}`)).to.equal(404);
    expect((await api.request("GET", "/users/me/subscriptions")).body.data).to.deep.equal([]);
  });

  it("deletes a webhook, asked by its name, and its address is gone", async () => {
    await open(`/webhooks/${webhook}/settings`);
    await button("Delete webhook").click();
    await dialog().getByRole("heading", { name: "Delete Billing?" }).waitFor();
    await dialog().getByRole("button", { name: "Delete" }).click();
    await page.getByText("Billing is deleted.").waitFor();
    await page.getByRole("heading", { name: "Webhooks", level: 1 }).waitFor();
    await settled(page);
    expect(await page.getByRole("link", { name: "Billing" }).count()).to.equal(0);
    expect(await status(`/webhooks/${webhook}`)).to.equal(404);
    const before = tab.problems.length;
    await tab.open(`/webhooks/${webhook}`);
    await page.getByText("There is nothing here").waitFor();
    tab.problems.length = before;
  });

  it("replaces the endpoint of a source, asked before, and shows the new one", async () => {
    const endpoint = endpointOf(source);
    const post = async (url: string) => (await fetch(url, { method: "POST", body: "{}" })).status;
    await open(`/sources/${source.id}/settings`);
    await button("Replace endpoint").click();
    await dialog().getByRole("heading", { name: "Replace the endpoint of ends?" }).waitFor();
    await dialog().getByRole("button", { name: "Cancel" }).click();
    await dialog().waitFor({ state: "detached" });
    expect(await post(endpoint)).to.equal(200);
    await button("Replace endpoint").click();
    await dialog().getByRole("button", { name: "Replace" }).click();
    await dialog().waitFor({ state: "detached" });
    source = await api.expect(200, "GET", `/sources/${source.id}`);
    const replaced = endpointOf(source);
    expect(replaced).not.to.equal(endpoint);
    await page.getByText(replaced).first().waitFor();
    await until(async () => (await post(endpoint)) === 404);
    expect(await post(replaced)).to.equal(200);
  });

  it("deletes a source, asked by its name, and its endpoint takes nothing more", async () => {
    const endpoint = endpointOf(source);
    expect((await fetch(endpoint, { method: "POST", body: "{}" })).status).to.equal(200);
    await open(`/sources/${source.id}/settings`);
    await button("Delete source").click();
    await dialog().getByRole("heading", { name: "Delete ends?" }).waitFor();
    await dialog().getByRole("button", { name: "Delete" }).click();
    await page.getByText("ends is deleted.").waitFor();
    await page.getByRole("heading", { name: "Sources", level: 1 }).waitFor();
    await until(async () => (await page.getByRole("link", { name: "ends", exact: true }).count()) === 0);
    await until(async () => (await status(`/sources/${source.id}`)) === 404);
    await until(async () => (await fetch(endpoint, { method: "POST", body: "{}" })).status === 404);
  });

  it("ends the session of another browser, whose open page asks to sign in by itself", async () => {
    const other = await openTab(browser, system);
    await signIn(other, api, "/deliveries");
    await settled(other.page);
    await open("/sessions");
    const others = page.getByRole("row").filter({ hasText: "Chrome" }).filter({ hasNotText: "This one" });
    await others.getByRole("button", { name: "End" }).click();
    await until(async () => (await others.count()) === 0);
    await other.page.getByLabel("API key").waitFor();
    await other.page.reload();
    await other.page.getByLabel("API key").waitFor();
    expect(await status("/users/me"), "the key itself works").to.equal(200);
    await other.close();
  });

  it("revokes the key of this very session, and says so before", async () => {
    const { api_key } = await api.expect(201, "POST", "/api_keys", { body: { name: "laptop" } });
    const other = await openTab(browser, system);
    await signIn(other, Object.assign(Object.create(api), { apiKey: api_key }) as Api, "/keys");
    const row = other.page.getByRole("row").filter({ hasText: "laptop" });
    await row.getByText("This session").waitFor();
    await row.getByRole("button", { name: "Revoke" }).click();
    const asked = other.page.getByRole("dialog");
    await asked.getByText("It is the key of this session: you will be signed out.").waitFor();
    await asked.getByRole("button", { name: "Revoke" }).click();
    await other.page.getByLabel("API key").waitFor();
    const headers = { authorization: `Bearer ${api_key}` };
    await until(async () => (await fetch(`${system.baseUrl}/users/me`, { headers })).status === 401);
    await other.page.reload();
    await other.page.getByLabel("API key").waitFor();
    await other.close();
    await open("/keys");
    await page.getByRole("row").filter({ hasText: "laptop" }).getByText("Revoked").waitFor();
  });

  it("meets no error of the browser on the way", () => {
    expect(tab.problems).to.deep.equal([]);
  });
});
