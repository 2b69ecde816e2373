// runs-long: npm test has test/dashboard/story.test.ts, which signs in by a link
import { expect } from "chai";
import type { Browser } from "playwright-core";
import type { Api } from "../support/api.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";
import { browserOrSkip, openTab, seriousFindings, signIn, type Tab } from "./signed-in.ts";

describe("signing in to the dashboard", () => {
  let browser: Browser;
  let system: System;
  let api: Api;
  let tab: Tab;

  before(async function () {
    browser = await browserOrSkip(this);
    system = await startSystem({}, { workers: false });
    api = await system.user();
  });
  after(async () => {
    await browser?.close();
    await system?.stop();
  });
  beforeEach(async () => {
    tab = await openTab(browser, system);
  });
  afterEach(() => tab?.close());

  it("asks for a key, and shows the page that was asked for", async () => {
    await tab.open("/sources?q=orders");
    expect(await seriousFindings(tab.page)).to.deep.equal([]);
    expect(tab.problems).to.deep.equal([]);
    await signIn(tab, api, "/sources?q=orders");
    await tab.page.getByRole("heading", { name: "Sources", level: 1 }).waitFor();
    expect(await tab.page.getByLabel("Search sources").inputValue()).to.equal("orders");
  });

  it("says that a key is wrong, and keeps the reader there", async () => {
    await tab.open("");
    await tab.page.getByLabel("API key").fill("hw_wrong");
    await tab.page.getByRole("button", { name: "Sign in" }).click();
    await tab.page.getByText("This key is not valid.").waitFor();
  });

  it("follows a link that works once, and removes its token from the address", async () => {
    const { url } = await api.expect<{ url: string }>(201, "POST", "/sign_in_links", { body: {} });
    const { pathname, hash } = new URL(url);
    await tab.page.goto(new URL(pathname + hash, system.baseUrl).href);
    await tab.page.getByRole("navigation", { name: "Main" }).waitFor();
    await tab.page.getByRole("heading", { name: "Hello, ", level: 1 }).waitFor();
    expect(new URL(tab.page.url()).pathname).to.equal("/dashboard");
    expect(tab.page.url()).not.to.include("hwl_");
    const second = await openTab(browser, system);
    await second.page.goto(new URL(pathname + hash, system.baseUrl).href);
    await second.page.getByText("was used already").waitFor();
    await second.close();
    // Its address names no screen, and its token is not tried again.
    await tab.page.getByRole("button", { name: "Sign out" }).click();
    await tab.page.getByLabel("API key").waitFor();
    expect(await tab.page.getByRole("alert").count()).to.equal(0);
  });

  it("ends for good", async () => {
    await signIn(tab, api);
    const [cookie] = await tab.context.cookies();
    expect(cookie).to.include({ httpOnly: true, sameSite: "Lax" });
    await tab.page.getByRole("button", { name: "Sign out" }).click();
    await tab.page.getByLabel("API key").waitFor();
    const headers = { cookie: `${cookie?.name}=${cookie?.value}` };
    await until(async () => (await fetch(`${system.baseUrl}/users/me`, { headers })).status === 401);
    await tab.page.reload();
    await tab.page.getByLabel("API key").waitFor();
  });
});
