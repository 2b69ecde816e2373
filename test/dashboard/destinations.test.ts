// runs-long: npm test has test/dashboard/story.test.ts, a whole walk in a browser

import { expect } from "chai";
import type { Browser, Page } from "playwright-core";
import { type AccountRedis, openAccountRedis, PASSWORD } from "../support/account-redis.ts";
import type { Api } from "../support/api.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";
import {
  browserOrSkip,
  isInvalid,
  keepScreenshot,
  openTab,
  saveAndWait,
  seriousFindings,
  settled,
  signIn,
  type Tab,
} from "./signed-in.ts";

const ACTION = `export default { name: "Note", version: "0.0.1", type: "action",
  props: { note: "string", key: { type: "string", secret: true, optional: true } },
  run({ $ }) {
    console.log("noting");
    if (this.note === "fail") throw new Error("no paper");
    $.export("$summary", "Noted " + this.note);
    $.export("length", this.note.length);
    return { kept: this.note };
  } };`;

describe("the dashboard's destinations and actions", () => {
  let browser: Browser;
  let system: System;
  let redis: AccountRedis;
  let api: Api & { userId: string };
  let tab: Tab;
  let page: Page;

  before(async function () {
    browser = await browserOrSkip(this);
    redis = await openAccountRedis();
    system = await startSystem({ DELIVERY_RETRY_SCHEDULE: "50ms" });
    api = await system.user();
    tab = await openTab(browser, system);
    page = tab.page;
    await signIn(tab, api, "/destinations");
    await settled(page);
  });
  after(async () => {
    await browser?.close();
    await system?.stop();
    await redis?.close();
  });

  const button = (name: string) => page.getByRole("button", { name, exact: true });
  const dialog = () => page.getByRole("dialog");
  const inDialog = (name: string) => dialog().getByRole("button", { name, exact: true });
  const tabs = () => page.getByRole("navigation", { name: "Destination" });
  /** Presses "Create destination", and returns the status of the response. */
  const create = async () => {
    const created = page.waitForResponse(
      one => one.request().method() === "POST" && one.url().endsWith("/destinations"),
    );
    await inDialog("Create destination").click();
    return (await created).status();
  };
  const idOfPage = () => new URL(page.url()).pathname.split("/")[3] ?? "";
  const stored = (id = idOfPage()) => api.expect(200, "GET", `/destinations/${id}`);

  it("make a stream, by keyboard, and say at the field what is wrong", async () => {
    await page.getByText("No destinations yet").waitFor();
    await button("New destination").first().focus();
    await page.keyboard.press("Enter");
    await dialog().getByLabel("Address").waitFor();
    expect(await seriousFindings(page)).to.deep.equal([]);
    await dialog().getByLabel("Name", { exact: true }).fill("Orders");
    await dialog().getByLabel("Address").fill("http://redis.example.com");
    await dialog().getByLabel("Stream").fill("orders");
    expect(await create()).to.equal(400);
    await isInvalid(dialog().getByLabel("Address"));
    expect(await seriousFindings(page)).to.deep.equal([]);
    await dialog().getByLabel("Address").fill(redis.url);
    await dialog().getByLabel("Password").fill("a wrong one");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Orders" }).waitFor();
    expect(await stored()).to.deep.include({ kind: "redis_stream", name: "Orders" });
  });

  it("send a test event, and show what the server said", async () => {
    await button("Send a test event").click();
    await dialog()
      .getByText(/WRONGPASS|invalid username-password/)
      .waitFor();
    expect(await dialog().textContent()).not.to.include("a wrong one");
    expect(await seriousFindings(page)).to.deep.equal([]);
    await inDialog("Close").click();
  });

  it("change the settings, keeping the password that is left empty", async () => {
    await tabs().getByRole("link", { name: "Settings" }).click();
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByLabel("Entries kept").fill("500");
    await saveAndWait(page, idOfPage());
    await until(async () => (await page.getByLabel("Password").inputValue()) === "");
    await page.getByLabel("Entries kept").fill("600");
    await page.getByLabel("Description").fill("For the shop");
    await saveAndWait(page, idOfPage());
    expect(await stored()).to.deep.include({ description: "For the shop" });
    expect((await stored()).redis_stream).to.include({
      max_length: 600,
      has_password: true,
      stream: "orders",
    });
    await button("Send a test event").click();
    await dialog().getByText("200").waitFor();
    await inDialog("Close").click();
    expect(await redis.entries("orders")).to.have.length(1);
    await page.getByLabel("Attempts per second").fill("0");
    const rejected = page.waitForResponse(one => one.request().method() === "PUT");
    await button("Save").click();
    expect((await rejected).status()).to.equal(400);
    await isInvalid(page.getByLabel("Attempts per second"));
    expect(await seriousFindings(page)).to.deep.equal([]);
    await keepScreenshot(page, "destination-settings");
  });

  it("show the deliveries and the health of one, and switch it on again", async () => {
    const id = idOfPage();
    const flow = (await api.expect(201, "POST", "/workflows", { body: { name: "Shop" } })).id;
    await api.subscribe(flow, id);
    await api.expect(202, "POST", `/workflows/${flow}/events`, { body: { event: { order: 17 } } });
    await tabs().getByRole("link", { name: "Deliveries" }).click();
    // What was rejected is not saved.
    await inDialog("Leave").click();
    await page.getByText("Delivered", { exact: true }).waitFor();
    await page.locator("a.title").click();
    await page.getByText("Destination", { exact: true }).waitFor();
    expect(await page.getByText("webhook-timestamp").count(), "nothing of HTTP").to.equal(0);
    expect(await seriousFindings(page)).to.deep.equal([]);
    await page.getByRole("link", { name: "Orders" }).click();
    await page.getByText("1 delivered").waitFor();
    await api.expect(200, "PUT", `/destinations/${id}`, { body: { active: false } });
    await page.reload();
    await button("Enable").click();
    await page.getByText("The destination is active again.").waitFor();
    expect(await stored(id)).to.include({ active: true });
    expect(await seriousFindings(page)).to.deep.equal([]);
  });

  it("make one that a program pulls from, and show what waits", async () => {
    await tab.go("/destinations");
    await button("New destination").click();
    await dialog().getByLabel("Kind").selectOption({ label: "Pull (kept for a program)" });
    await dialog()
      .getByText("Its events are kept here until a program asks for them", { exact: false })
      .waitFor();
    await dialog().getByLabel("Name", { exact: true }).fill("Inbox");
    expect(await create()).to.equal(201);
    await page.getByText("Everything that was kept is acknowledged.").waitFor();
    await button("Send a test event").click();
    await dialog().getByText("200").waitFor();
    await inDialog("Close").click();
    await page.reload();
    await page.getByText("1 event. Nothing was acknowledged since", { exact: false }).waitFor();
    expect(await seriousFindings(page)).to.deep.equal([]);
    await keepScreenshot(page, "destination-pull");
    await tabs().getByRole("link", { name: "Settings" }).click();
    await page.getByLabel("Description").fill("For the ERP");
    await saveAndWait(page, idOfPage());
    expect(await stored()).to.deep.include({ kind: "pull", description: "For the ERP" });
  });

  it("make an action of code with a secret, and say what is wrong with its props", async () => {
    await tab.go("/destinations");
    await button("New destination").click();
    await dialog().getByLabel("Kind").selectOption({ label: "Action (a component)" });
    expect(await inDialog("Create destination").isDisabled()).to.equal(true);
    await dialog().getByLabel("Name", { exact: true }).fill("Notes");
    await dialog().getByLabel("Component", { exact: true }).selectOption({ label: "New code …" });
    await dialog().getByLabel("Code").fill(ACTION.replace('type: "action",', ""));
    await inDialog("Save the code").click();
    await dialog().getByText("This is a source", { exact: false }).waitFor();
    await dialog().getByLabel("Code").fill(ACTION);
    await inDialog("Save the code").click();
    await dialog().getByLabel("note").waitFor();
    expect(await seriousFindings(page)).to.deep.equal([]);
    await dialog().getByLabel("key (optional)").fill("s3cret");
    expect(await create()).to.equal(400);
    await isInvalid(dialog().getByLabel("note"));
    await dialog().getByLabel("note").fill("order {{event.order}}");
    expect(await create()).to.equal(201);
    await page.getByRole("heading", { name: "Notes" }).waitFor();
    expect((await stored()).action).to.deep.include({
      configured_props: { note: "order {{event.order}}" },
      secrets_set: ["key"],
    });
    await tabs().getByRole("link", { name: "Settings" }).click();
    await page.getByText("Set, and never shown; leave this empty to keep it.").waitFor();
    expect(await page.getByLabel("note").inputValue()).to.equal("order {{event.order}}");
    expect(await page.content()).not.to.include("s3cret");
  });

  it("show what an action's attempt exported, returned and wrote, and how one failed", async () => {
    const id = idOfPage();
    const flow = (await api.expect(201, "POST", "/workflows", { body: { name: "Flow" } })).id;
    await api.subscribe(flow, id);
    await api.expect(202, "POST", `/workflows/${flow}/events`, { body: { event: { order: 17 } } });
    await tabs().getByRole("link", { name: "Deliveries" }).click();
    await page.getByText("Delivered", { exact: true }).waitFor();
    await page.locator("a.title").click();
    await page.getByText("Noted order 17").waitFor();
    await page.getByText("length: ").waitFor();
    await page.getByText("kept: ").waitFor();
    await page.getByRole("region", { name: "Log" }).getByText("noting").waitFor();
    expect(await seriousFindings(page)).to.deep.equal([]);
    await keepScreenshot(page, "action-delivery");
    await tab.go(`/destinations/${id}/settings`);
    await page.getByLabel("note").fill("fail");
    await page.getByLabel("Remove key").check();
    await saveAndWait(page, id);
    expect((await stored(id)).action).to.deep.include({
      configured_props: { note: "fail" },
      secrets_set: [],
    });
    await api.expect(202, "POST", `/workflows/${flow}/events`, { body: { event: { order: 18 } } });
    await tabs().getByRole("link", { name: "Deliveries" }).click();
    await page.getByText("Failed", { exact: true }).first().waitFor();
    await page.locator("a.title").first().click();
    await page.getByText("no paper", { exact: false }).first().waitFor();
    await page.getByText("All retries were made, and none succeeded.").waitFor();
    await tab.go(`/destinations/${id}`);
    await page.getByText("Failing since", { exact: false }).waitFor();
    await button("Last 24 hours").click();
    await inDialog("Retry 1").click();
    await page.getByText("They are on their way.").waitFor();
  });

  it("are deleted after a question, with their subscriptions", async () => {
    const id = idOfPage();
    await tabs().getByRole("link", { name: "Settings" }).click();
    await button("Delete destination").click();
    expect(await seriousFindings(page)).to.deep.equal([]);
    await inDialog("Cancel").click();
    expect(await stored(id)).to.include({ name: "Notes" });
    await button("Delete destination").click();
    await inDialog("Delete").click();
    await page.getByText("Notes is deleted.").waitFor();
    expect((await api.request("GET", `/destinations/${id}`)).status).to.equal(404);
    await page.getByRole("link", { name: "Orders" }).waitFor();
    expect(await page.getByRole("link", { name: "Notes" }).count()).to.equal(0);
    await tab.go(`/destinations/${id}`);
    await page.getByText("There is nothing here").waitFor();
  });

  it("meets no error of the browser on the way", () => {
    const notes = tab.problems.filter(one => !/status of 40[04]/.test(one));
    expect(notes).to.deep.equal([]);
  });
});
