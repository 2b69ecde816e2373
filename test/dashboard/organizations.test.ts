// runs-long: npm test has test/dashboard/story.test.ts, a whole walk in a browser

import { expect } from "chai";
import type { Browser, Page } from "playwright-core";
import type { Api } from "../support/api.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";
import { browserOrSkip, openTab, seriousFindings, settled, signIn, type Tab } from "./signed-in.ts";

// One story in order: each part goes on where the one before ended.
describe("an organization in the dashboard", () => {
  let browser: Browser;
  let system: System;
  let org: string;
  let anna: Api & { userId: string };
  let bert: Api & { userId: string };
  let emails: { anna: string; bert: string };
  let ofAnna: Tab;
  let ofBert: Tab;

  before(async function () {
    browser = await browserOrSkip(this);
    system = await startSystem({}, { workers: false });
    anna = await system.user();
    bert = await system.user();
    org = await system.organization(anna.userId);
    emails = { anna: await emailOf(anna), bert: await emailOf(bert) };
    await anna.createWebhook("http://127.0.0.1:9/team", { name: "Of the team", org_id: org });
    await anna.createWebhook("http://127.0.0.1:9/own", { name: "Of Anna" });
    ofAnna = await openTab(browser, system);
    ofBert = await openTab(browser, system);
    await signIn(ofAnna, anna);
    await signIn(ofBert, bert);
  });
  after(async () => {
    await browser?.close();
    await system?.stop();
  });

  const emailOf = async (api: Api) => (await api.expect(200, "GET", "/users/me")).email as string;
  const open = async (tab: Tab, path: string) => {
    await tab.open(path);
    await settled(tab.page);
  };
  const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
  const member = (page: Page, email: string) => page.getByRole("listitem").filter({ hasText: email });
  const members = async () =>
    (await anna.expect(200, "GET", `/orgs/${org}/members`)).members.map(({ id }: { id: string }) => id);

  /** How far what a page shows has moved since it was opened, as browsers count it. */
  const layoutShift = (page: Page) =>
    page.evaluate<number>(`new Promise(resolve => {
      const noted = [];
      const observer = new PerformanceObserver(list => noted.push(...list.getEntries()));
      observer.observe({ type: "layout-shift", buffered: true });
      requestAnimationFrame(() => setTimeout(() => resolve(noted.reduce((sum, { value }) => sum + value, 0))));
    })`);

  it("moves nothing that the overview shows while it loads", async () => {
    for (const width of [1280, 390]) {
      await ofAnna.page.setViewportSize({ width, height: 800 });
      await open(ofAnna, "/");
      await ofAnna.page.reload();
      await settled(ofAnna.page);
      await ofAnna.page.getByLabel("Account").first().waitFor({ state: "attached" });
      expect(await layoutShift(ofAnna.page), `${width} px`).to.be.below(0.1);
    }
    await ofAnna.page.setViewportSize({ width: 1280, height: 800 });
  });

  it("invites a user, who accepts and sees what is there", async () => {
    await open(ofAnna, `/organization?org=${org}`);
    const { page } = ofAnna;
    await member(page, emails.anna).getByText("Owner").waitFor();
    expect(await button(page, "Leave").count(), "its owner can't leave it").to.equal(0);
    await page.getByLabel("Invite by email").fill(emails.bert);
    await button(page, "Invite").click();
    await button(page, "Withdraw").waitFor();
    expect(await page.getByLabel("Invite by email").inputValue()).to.equal("");

    await open(ofBert, "/organization");
    expect(await ofBert.page.getByLabel("Account").count()).to.equal(0);
    await ofBert.page.getByText("You are invited to").waitFor();
    expect(await seriousFindings(ofBert.page)).to.deep.equal([]);
    await button(ofBert.page, "Accept").click();
    await ofBert.page.getByText("You are a member of Org.").waitFor();
    expect(await members()).to.have.members([anna.userId, bert.userId]);
    await ofBert.page.getByRole("link", { name: "Org", exact: true }).click();
    await member(ofBert.page, emails.bert).waitFor();
  });

  it("shows commands that make things in the organization, and not in the reader's own account", async () => {
    const { page } = ofAnna;
    const command = page.getByRole("region", { name: "Command" });
    await open(ofAnna, `/destinations?org=${org}`);
    expect(await command.textContent()).to.include(`/v1/destinations?org_id=${org}'`);
    await open(ofAnna, "/destinations");
    expect(await command.textContent()).to.include("/v1/destinations'");
  });

  it("is switched to and from, with its own things only, and the address says which", async () => {
    const { page } = ofBert;
    const account = page.getByLabel("Account");
    await open(ofBert, "/webhooks");
    await page.getByText("Of the team").waitFor({ state: "detached" });
    await account.selectOption({ label: "Org" });
    await page.getByRole("heading", { level: 1 }).waitFor();
    expect(new URL(page.url()).searchParams.get("org")).to.equal(org);
    await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Webhooks" }).click();
    await page.getByRole("link", { name: "Of the team" }).waitFor();
    expect(await page.getByText("Of Anna").count()).to.equal(0);
    await page.reload();
    await page.getByRole("link", { name: "Of the team" }).waitFor();
    await account.selectOption({ label: "Personal account" });
    await until(() => !page.url().includes("org="));
    await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Webhooks" }).click();
    await settled(page);
    expect(await page.getByText("Of the team").count()).to.equal(0);
  });

  it("lets a member invite and remove nobody", async () => {
    await open(ofBert, `/organization?org=${org}`);
    const { page } = ofBert;
    await member(page, emails.anna).waitFor();
    expect(await page.getByLabel("Invite by email").count()).to.equal(0);
    expect(await button(page, "Remove").count()).to.equal(0);
    expect(await button(page, "Leave").count()).to.equal(1);
    for (const [method, path, body] of [
      ["POST", `/orgs/${org}/invitations`, { email: "carl@example.test" }],
      ["DELETE", `/orgs/${org}/members/${anna.userId}`, undefined],
    ] as const) {
      expect((await bert.request(method, path, { body })).status, path).to.equal(403);
    }
  });

  it("is left by a member, who is back in the own account", async () => {
    const { page } = ofBert;
    await button(page, "Leave").click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("heading", { name: "Leave Org?" }).waitFor();
    await dialog.getByRole("button", { name: "Leave" }).click();
    await page.getByText("No organizations").waitFor();
    expect(page.url()).not.to.include("org=");
    expect(await page.getByLabel("Account").count()).to.equal(0);
    expect(await members()).to.deep.equal([anna.userId]);
  });

  it("removes a member, whose open page shows nothing of it any more", async () => {
    await open(ofAnna, `/organization?org=${org}`);
    await ofAnna.page.getByLabel("Invite by email").fill(emails.bert);
    await button(ofAnna.page, "Invite").click();
    await button(ofAnna.page, "Withdraw").waitFor();
    await open(ofBert, "/organization");
    await button(ofBert.page, "Accept").click();
    await ofBert.page.getByText("You are a member of Org.").waitFor();
    await open(ofBert, `/webhooks?org=${org}`);
    await ofBert.page.getByRole("link", { name: "Of the team" }).waitFor();

    const before = ofBert.problems.length;
    await open(ofAnna, `/organization?org=${org}`);
    await member(ofAnna.page, emails.bert).getByRole("button", { name: "Remove" }).click();
    const dialog = ofAnna.page.getByRole("dialog");
    await dialog.getByText(`${emails.bert} sees it no longer`).waitFor();
    await dialog.getByRole("button", { name: "Remove" }).click();
    await member(ofAnna.page, emails.bert).waitFor({ state: "detached" });
    expect(await members()).to.deep.equal([anna.userId]);

    await ofBert.page
      .getByRole("navigation", { name: "Main" })
      .getByRole("link", { name: "Sources" })
      .click();
    await ofBert.page.getByText("You are not a member of this organization").waitFor();
    await ofBert.page.reload();
    await ofBert.page.getByText("You are not a member of this organization").waitFor();
    await ofBert.page.getByRole("link", { name: "To your own account" }).click();
    await ofBert.page.getByRole("heading", { name: "Hello, ", level: 1 }).waitFor();
    expect(ofBert.page.url()).not.to.include("org=");
    // A browser reports every response 404 in its console.
    const notFound = ofBert.problems.slice(before).every(one => one.includes("404"));
    expect(notFound, ofBert.problems.join("\n")).to.equal(true);
    ofBert.problems.length = before;
  });

  it("withdraws an invitation, and says why one can't be sent", async () => {
    const { page } = ofAnna;
    await page.getByLabel("Invite by email").fill(emails.bert);
    await button(page, "Invite").click();
    await button(page, "Withdraw").click();
    await button(page, "Withdraw").waitFor({ state: "detached" });
    expect((await bert.request("GET", "/users/me/invitations")).body.data).to.deep.equal([]);
    const before = ofAnna.problems.length;
    await page.getByLabel("Invite by email").fill(emails.anna);
    await button(page, "Invite").click();
    await page.getByText("is a member", { exact: false }).waitFor();
    ofAnna.problems.length = before;
  });

  it("meets no error of the browser on the way", () => {
    expect([...ofAnna.problems, ...ofBert.problems]).to.deep.equal([]);
  });
});
