// runs-long: npm test has test/dashboard/story.test.ts, a whole walk in a browser

import { expect } from "chai";
import type { Browser } from "playwright-core";
import { SIGN_IN_PROBLEMS as sentences } from "../../dashboard/lib/sign-in-problems.ts";
import { SIGN_IN_PROBLEMS } from "../../src/accounts/openid-connect/find-user.ts";
import { startOpenIdProvider, type TestProvider } from "../support/openid-provider.ts";
import { type System, startSystem } from "../support/system.ts";
import { browserOrSkip, keepScreenshot, openTab, seriousFindings, type Tab } from "./signed-in.ts";

describe("signing in to the dashboard with an OpenID provider", () => {
  let browser: Browser;
  let provider: TestProvider;
  let system: System;
  let tab: Tab;

  before(async function () {
    browser = await browserOrSkip(this);
    provider = await startOpenIdProvider();
    system = await startSystem(provider.env, { workers: false });
    await provider.returnTo(new URL(system.baseUrl).origin);
    provider.people.set("anna", { email: "anna@acme.test", email_verified: true });
    provider.people.set("eve", { email: "eve@evil.test", email_verified: true });
  });
  after(async () => {
    await browser?.close();
    await system?.stop();
    await provider?.stop();
  });
  beforeEach(async () => {
    tab = await openTab(browser, system);
  });
  afterEach(() => tab?.close());

  const leaveAs = async (name: string, button = "Continue") => {
    await tab.page.getByRole("button", { name: "Sign in with 127.0.0.1" }).click();
    await tab.page.getByLabel("Name").fill(name);
    await tab.page.getByRole("button", { name: button }).click();
  };

  it("shows the page that was asked for, without a complaint of the browser", async () => {
    await tab.open("/sources?q=orders");
    await tab.page.getByRole("button", { name: "Sign in with 127.0.0.1" }).waitFor();
    expect(await seriousFindings(tab.page)).to.deep.equal([]);
    await keepScreenshot(tab.page, "sign-in-openid");
    await leaveAs("anna");
    await tab.page.getByRole("heading", { name: "Sources", level: 1 }).waitFor();
    expect(await tab.page.getByLabel("Search sources").inputValue()).to.equal("orders");
    const cookies = await tab.context.cookies(new URL(system.baseUrl).origin);
    const own = cookies.filter(({ name }) => name.startsWith("headwater"));
    expect(own.map(({ name }) => name)).to.deep.equal(["headwater"]);
    expect(own[0]).to.include({ httpOnly: true, sameSite: "Lax" });
    await tab.open("/sessions");
    await tab.page.getByRole("heading", { name: "Sessions", level: 1 }).waitFor();
    await tab.page.getByTitle("Sign out").click();
    // The provider asks, and sends the browser back.
    await tab.page.getByRole("button", { name: "Sign out there" }).click();
    await tab.page.getByText("You are signed out, here and with 127.0.0.1.").waitFor();
    expect(new URL(tab.page.url()).search).to.equal("");
    expect(await seriousFindings(tab.page)).to.deep.equal([]);
    await tab.page.reload();
    await tab.page.getByRole("button", { name: "Sign in with 127.0.0.1" }).click();
    await tab.page.getByLabel("Name").waitFor();
    expect(tab.problems).to.deep.equal([]);
  });

  it("is signed out here although the person stays signed in there", async () => {
    await tab.open("");
    await leaveAs("anna");
    await tab.page.locator("main.page h1").waitFor();
    await tab.open("/sessions");
    const row = tab.page.getByRole("row").filter({ hasText: "This one" });
    await row.getByRole("button", { name: "Sign out" }).click();
    await tab.page.getByRole("button", { name: "Sign out there" }).waitFor();
    await tab.open("/sign-in?state=forged");
    await tab.page.getByRole("button", { name: "Sign in with 127.0.0.1" }).waitFor();
    expect(await tab.page.getByText("You are signed out").count()).to.equal(0);
    expect(tab.problems).to.deep.equal([]);
  });

  it("says in a sentence why somebody is not let in, once", async () => {
    await tab.open("/sign-in");
    await leaveAs("eve");
    await tab.page.getByText("may not sign in here").waitFor();
    expect(new URL(tab.page.url()).search).to.equal("");
    expect(await seriousFindings(tab.page)).to.deep.equal([]);
    // The provider still knows who this is: it would not ask again.
    await tab.context.clearCookies();
    await leaveAs("eve", "Stop");
    await tab.page.getByText("You stopped the sign-in.").waitFor();
    await tab.page.reload();
    await tab.page.getByRole("button", { name: "Sign in with 127.0.0.1" }).waitFor();
    expect(await tab.page.getByRole("alert").count()).to.equal(0);
    await tab.open("/sign-in?problem=<b>forged</b>");
    await tab.page.getByText("The sign-in failed. Try again.").waitFor();
    expect(tab.problems).to.deep.equal([]);
  });

  it("says at the button that the provider is away, and a key works", async () => {
    const gone = await startOpenIdProvider();
    await gone.stop();
    const other = await startSystem(gone.env, { workers: false });
    const api = await other.user();
    const page = await openTab(browser, other);
    try {
      await page.open("");
      await page.page.getByRole("button", { name: "Sign in with 127.0.0.1" }).click();
      await page.page.getByText("127.0.0.1 can't be reached right now").waitFor();
      await page.page.getByLabel("API key").fill(api.apiKey);
      await page.page.getByRole("button", { name: "Sign in", exact: true }).click();
      await page.page.locator("main.page h1").waitFor();
    } finally {
      await page.close();
      await other.stop();
    }
  });

  it("has a sentence for every problem", () => {
    expect(Object.keys(sentences)).to.have.members([...SIGN_IN_PROBLEMS]);
  });
});
