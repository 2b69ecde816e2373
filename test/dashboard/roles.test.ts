// runs-long: npm test has test/dashboard/story.test.ts, a whole walk in a browser

import { expect } from "chai";
import type { Browser, Page } from "playwright-core";
import type { Api } from "../support/api.ts";
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

// One story in order: each part goes on where the one before ended.
describe("roles in the dashboard", () => {
  let browser: Browser;
  let system: System;
  let org: string;
  let webhook: string;
  let anna: Api & { userId: string };
  let bert: Api & { userId: string };
  let username: string;
  let ofAnna: Tab;
  let ofBert: Tab;

  before(async function () {
    browser = await browserOrSkip(this);
    system = await startSystem({ FREE_LIMITS: "organizations=1" }, { workers: false });
    anna = await system.user();
    bert = await system.user();
    ({ username } = await bert.expect(200, "GET", "/users/me"));
    ofAnna = await openTab(browser, system);
    ofBert = await openTab(browser, system, { width: 390, colours: "dark" });
    await signIn(ofAnna, anna);
  });
  after(async () => {
    await browser?.close();
    await system?.stop();
  });

  const open = async (tab: Tab, path: string) => {
    await tab.open(path);
    await settled(tab.page);
  };
  const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

  it("let an owner make an organization, rename it, and invite a viewer", async () => {
    const { page } = ofAnna;
    await open(ofAnna, "/organization");
    await button(page, "New organization").click();
    await page.getByRole("dialog").getByLabel("Name").fill("Shop");
    await button(page, "Create").click();
    await page.getByRole("heading", { name: "Shop", level: 1 }).waitFor();
    org = new URL(page.url()).searchParams.get("org") ?? "";
    expect(org).to.match(/^o_/);
    await button(page, "Rename").click();
    await page.getByRole("dialog").getByLabel("Name").fill("Web shop");
    await button(page, "Save").click();
    await page.getByRole("heading", { name: "Web shop", level: 1 }).waitFor();
    ({ id: webhook } = await anna.createWebhook("http://127.0.0.1:9/", { name: "orders", org_id: org }));

    const { email } = await bert.expect(200, "GET", "/users/me");
    await page.getByLabel("Invite by email").fill(email);
    await page.getByLabel("As", { exact: true }).selectOption("viewer");
    await button(page, "Invite").click();
    await button(page, "Withdraw").waitFor();
    expect(await seriousFindings(page)).to.deep.equal([]);
    await keepScreenshot(page, "organization-owner");
  });

  it("show the invited how many invitations wait, on every screen, and as what", async () => {
    await signIn(ofBert, bert);
    const { page } = ofBert;
    const banner = page.getByRole("link", { name: "1 invitation to an organization waits for you" });
    await banner.waitFor();
    await keepScreenshot(page, "invitation-banner");
    expect(await seriousFindings(page)).to.deep.equal([]);
    await banner.click();
    await page.getByText("You are invited to Web shop as viewer.").waitFor();
    await button(page, "Accept").click();
    await page.getByText("You are a viewer of Web shop.").waitFor();
    expect(await banner.count()).to.equal(0);
  });

  it("let a viewer see all and press nothing that changes it, and say why", async () => {
    const { page } = ofBert;
    await open(ofBert, `/webhooks?org=${org}`);
    await page.getByRole("link", { name: "orders" }).waitFor();
    expect(await button(page, "New webhook").isDisabled()).to.equal(true);
    await open(ofBert, `/webhooks/${webhook}/settings?org=${org}`);
    const save = button(page, "Save");
    await until(() => save.isDisabled(), { what: "no Save" });
    expect(await save.getAttribute("title")).to.include("needs the role member");
    expect(await seriousFindings(page)).to.deep.equal([]);
    await keepScreenshot(page, "viewer-settings");
    await open(ofBert, `/sources?org=${org}`);
    await page.getByText("No sources yet").waitFor();
    expect(await page.getByRole("link", { name: "New source" }).count()).to.equal(0);
    await open(ofBert, `/organization?org=${org}`);
    await button(page, "Leave").waitFor();
    expect(await page.getByLabel(/^Role of/).count()).to.equal(0);
    // In the own account everything is as before.
    await open(ofBert, "/webhooks");
    expect(await button(page, "New webhook").first().isEnabled()).to.equal(true);
  });

  it("are changed by an owner, and hold for the member at once", async () => {
    const { page } = ofAnna;
    await open(ofAnna, `/organization?org=${org}`);
    await page.getByLabel(`Role of ${username}`).selectOption("member");
    await page.getByText(`${username} is member now.`).waitFor();
    await open(ofBert, `/webhooks?org=${org}`);
    await until(async () => await button(ofBert.page, "New webhook").first().isEnabled());
    await page.getByLabel(`Role of ${username}`).selectOption("owner");
    await page.getByText(`${username} is owner now.`).waitFor();
    const { members } = await bert.expect(200, "GET", `/orgs/${org}/members`);
    expect(members.map(({ role }: { role: string }) => role)).to.deep.equal(["owner", "owner"]);
  });

  it("meet no error of the browser on the way", () => {
    expect([...ofAnna.problems, ...ofBert.problems]).to.deep.equal([]);
  });
});
