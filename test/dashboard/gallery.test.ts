// runs-long: npm test has test/dashboard/story.test.ts, a whole walk in a browser, and test/gallery
import { expect } from "chai";
import type { Browser } from "playwright-core";
import { publishGallery } from "../../src/gallery/publish-gallery.ts";
import { readShipped } from "../../src/gallery/shipped.ts";
import { Components } from "../../src/models/component.ts";
import type { Api, SourceView } from "../support/api.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { type System, startSystem } from "../support/system.ts";
import { misfits } from "./fits.ts";
import {
  browserOrSkip,
  isInvalid,
  keepScreenshot,
  openTab,
  seriousFindings,
  settled,
  signIn,
  type Tab,
} from "./signed-in.ts";

const FEED = `<rss version="2.0"><channel><title>News</title><item><title>An entry</title><guid>1</guid></item></channel></rss>`;

describe("the gallery of the dashboard", () => {
  let browser: Browser;
  let system: System;
  let api: Api;
  let site: Receiver;
  let tab: Tab;

  before(async function () {
    browser = await browserOrSkip(this);
    system = await startSystem({ SANDBOX_EGRESS_ALLOW: "127.0.0.0/8" });
    api = await system.user();
    site = await startReceiver({ status: 200, body: FEED });
    await publishGallery(system.web, await readShipped());
    tab = await openTab(browser, system);
    await signIn(tab, api);
  });
  after(async () => {
    await browser?.close();
    await site?.close();
    await system?.stop();
  });

  // What a start publishes is there by then, as src/server.ts does it, and nothing else is.
  it("leads from New source over a card to a deployed feed, in three clicks", async () => {
    const { page } = tab;
    await tab.open("/sources");
    await page.getByRole("link", { name: "New source" }).click();
    await page.getByRole("heading", { name: "Gallery" }).waitFor();
    await settled(page);
    expect(await seriousFindings(page)).to.deep.equal([]);
    await keepScreenshot(page, "gallery");
    await page.getByRole("link", { name: "New entry in a feed" }).click();
    await page.getByLabel("Feeds").waitFor();
    await settled(page);
    expect(await seriousFindings(page)).to.deep.equal([]);
    await keepScreenshot(page, "gallery-feed");
    await page.getByLabel("Feeds").fill(`${site.url}/feed.xml`);
    await page.getByRole("button", { name: "Deploy" }).click();
    await page.waitForURL(/\/sources\/dc_/);
    const [source] = await api.expect(200, "GET", "/users/me/sources");
    expect(source.configured_props.urls).to.deep.equal([`${site.url}/feed.xml`]);
    // By its deploy hook, and perhaps by the first tick already.
    expect(site.requests.length).to.be.at.least(1);
    expect(tab.problems).to.deep.equal([]);
  });

  it("shows first what needs no account", async () => {
    const { page } = tab;
    await tab.open("/gallery");
    await page.getByRole("heading", { name: "No account needed" }).waitFor();
    const headings = await page.getByRole("main").getByRole("heading").allTextContents();
    const [free, others] = ["No account needed", "Account needed"].map(name => headings.indexOf(name));
    expect(headings.slice(free, others)).to.include.members(["Webhook", "Schedule", "New entry in a feed"]);
    expect(headings.slice(others)).to.include.members(["GitHub events", "Stripe events"]);
  });

  it("shows what a component would emit before anything is deployed, with its fields checked", async () => {
    const { page } = tab;
    const ids = async () =>
      (await api.expect(200, "GET", "/users/me/sources")).map(({ id }: SourceView) => id);
    const before = await ids();
    await tab.open("/gallery/headwater-feed");
    await page.getByLabel("Feeds").waitFor();
    const test = page.getByRole("button", { name: "Test with the sample" });
    await test.click();
    await isInvalid(page.getByLabel("Feeds"));
    await page.getByLabel("Feeds").fill(`${site.url}/feed.xml`);
    await test.click();
    const result = page.getByRole("status").filter({ hasText: "What it would emit." });
    await result.getByText("Ran", { exact: true }).waitFor();
    await result.getByText('"An entry"').waitFor();
    expect(await seriousFindings(page)).to.deep.equal([]);
    await keepScreenshot(page, "gallery-tested");
    expect(await ids()).to.deep.equal(before);
  });

  it("says beside a secret where the vendor shows it", async () => {
    const { page } = tab;
    await tab.open("/gallery/headwater-stripe-events");
    await page.getByLabel("Restricted key").waitFor();
    const form = page.locator("form");
    expect(await form.getByRole("link", { name: "Your API keys" }).getAttribute("href")).to.equal(
      "https://dashboard.stripe.com/apikeys",
    );
    expect(await page.getByLabel("Provider").count(), "its code verifies").to.equal(0);
    await keepScreenshot(page, "gallery-stripe");
  });

  it("deploys a webhook that is verified from the start, by keyboard on a telephone in the dark", async () => {
    const small = await openTab(browser, system, { width: 390, colours: "dark" });
    const { page } = small;
    await signIn(small, api, "/gallery");
    await settled(page);
    expect(await misfits(page)).to.deep.equal([]);
    await keepScreenshot(page, "gallery-390");
    await page.getByRole("link", { name: "Webhook", exact: true }).focus();
    await page.keyboard.press("Enter");
    await page.getByLabel("Provider", { exact: true }).focus();
    await page.keyboard.type("slack");
    await page.keyboard.press("Enter");
    await page.getByLabel("Secret", { exact: true }).focus();
    await page.keyboard.type("the app's signing secret");
    expect(await misfits(page)).to.deep.equal([]);
    expect(await seriousFindings(page)).to.deep.equal([]);
    await keepScreenshot(page, "gallery-390-webhook");
    await page.getByRole("button", { name: "Deploy" }).focus();
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/sources\/dc_/);
    await page.getByText("Verifies", { exact: true }).waitFor();
    const id = new URL(page.url()).pathname.split("/").at(-1);
    const { verify } = await api.expect(200, "GET", `/sources/${id}`);
    expect(verify).to.include({ preset: "slack", secrets: 1, mode: "enforce" });
    expect(small.problems).to.deep.equal([]);
    await small.close();
  });

  it("asks who may send to code that responds by itself, where it is deployed and where it is written", async () => {
    const { page } = tab;
    const component_code = `export default { name: "Responds", version: "1", props: { http: { type: "$.interface.http", customResponse: true } },
      run() { this.http.respond({ status: 200, body: "ok" }); } };`;
    const { id } = await api.expect(201, "POST", "/components", { body: { component_code } });
    const chooseAndDeploy = async () => {
      await page.getByLabel("Provider", { exact: true }).fill("slack");
      await page.keyboard.press("Enter");
      await page.getByLabel("Secret", { exact: true }).fill("a signing secret");
      await page.getByRole("button", { name: "Deploy", exact: true }).click();
      await page.waitForURL(/\/sources\/dc_/);
      const { verify } = await api.expect(
        200,
        "GET",
        `/sources/${new URL(page.url()).pathname.split("/").at(-1)}`,
      );
      expect(verify).to.include({ preset: "slack", secrets: 1 });
    };
    await tab.open(`/components/${id}/deploy`);
    const provider = page.getByLabel("Provider", { exact: true });
    expect(await provider.getAttribute("placeholder")).to.equal("The component decides, or anybody");
    await chooseAndDeploy();
    await tab.open("/sources/new");
    await provider.waitFor();
    expect(await seriousFindings(page)).to.deep.equal([]);
    await keepScreenshot(page, "new-source-provider");
    await chooseAndDeploy();
  });

  it("finds cards by what they do, by category and by what they need", async () => {
    const { page } = tab;
    const cards = page.getByRole("main").getByRole("listitem").getByRole("heading");
    await tab.open("/gallery?q=slack");
    await page.getByRole("link", { name: "Slack message" }).waitFor();
    expect(await cards.allTextContents()).to.deep.equal(["Slack events", "Slack message"]);
    await tab.open("/gallery?account=none&type=action");
    await page.getByRole("link", { name: "HTTP request" }).waitFor();
    expect(await cards.allTextContents()).to.deep.equal(["HTTP request"]);
    await tab.open("/gallery?q=nothing-like-this");
    await page.getByText("Nothing matches").waitFor();
    await page.getByRole("button", { name: "Clear filters" }).click();
    await page.getByRole("link", { name: "New entry in a feed" }).waitFor();
  });

  it("offers a later version with what is new in it, and updates when it is told to", async () => {
    const { page } = tab;
    const components = Components(system.web.mongo);
    const row = await components.findOne({ key: "headwater-schedule" }).lean();
    if (!row) throw new Error("not published");
    const older = { ...row, _id: "sc_0000000000000000", code_hash: "0", version: "0.9.0" };
    await components.insertOne(older);
    const source = await api.createSource({ component_id: older._id });
    await tab.open(`/sources/${source.id}/settings`);
    await page.getByText("Version 1.0.0 of Schedule is available; this source runs 0.9.0.").waitFor();
    await keepScreenshot(page, "gallery-update");
    await page.getByRole("button", { name: "Update", exact: true }).click();
    await page.getByText("Updated to 1.0.0.").waitFor();
    expect((await api.expect(200, "GET", `/sources/${source.id}`)).component_id).to.equal(row._id);
    expect(await page.getByText("is available").count()).to.equal(0);
  });
});
