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
describe("a first visit to the dashboard", () => {
  let browser: Browser;
  let system: System;
  let api: Api;
  let tab: Tab;
  let page: Page;
  let endpoint: string;

  before(async function () {
    browser = await browserOrSkip(this);
    // The retries wait until the receiver is repaired.
    system = await startSystem({ DELIVERY_RETRY_SCHEDULE: "500ms,1h" });
    api = await system.user();
    tab = await openTab(browser, system);
    page = tab.page;
    await signIn(tab, api);
  });
  after(async () => {
    await browser?.close();
    await system?.stop();
  });

  const send = (body: unknown) =>
    fetch(endpoint, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  const list = (name: string) => page.getByRole("list", { name });
  /** Set in the page, and gone if it was loaded again. */
  const mark = () => page.evaluate(() => Object.assign(globalThis, { wasNotReloaded: true }));
  const isMarked = () => page.evaluate(() => "wasNotReloaded" in globalThis);

  it("begins with one click that makes a source, a receiver and what is between them", async () => {
    await page.getByText("From nothing to a watched event in a minute").waitFor();
    await page.getByRole("link", { name: "Start", exact: true }).click();
    await page.getByRole("button", { name: "Make all four" }).click();
    const command = page.getByRole("region", { name: "Request as curl" });
    await command.waitFor();
    endpoint = /'(http[^']+)'/.exec((await command.textContent()) ?? "")?.[1] ?? "";
    expect(endpoint).to.match(/\/in\//);
  });

  it("shows an event at both ends of its way without a reload", async () => {
    await mark();
    await page.getByText("Live", { exact: true }).first().waitFor();
    await send({ name: "world" });
    await list("2. The source emits").getByText("Hello world").waitFor();
    await list("3. The receiver gets it").getByText("POST /200").waitFor();
    expect(await isMarked()).to.equal(true);
    await keepScreenshot(page, "story-first-event");
  });

  it("follows it to its delivery", async () => {
    await list("2. The source emits").getByText("Hello world").click();
    await page.getByRole("link", { name: "Where did it go?" }).waitFor();
    expect(await seriousFindings(page), "while it is watched, with an open event").to.deep.equal([]);
    await page.getByRole("link", { name: "Where did it go?" }).click();
    await page.getByRole("heading", { name: "Where did it go?" }).waitFor();
    await page.getByText("Attempt 1").waitFor();
    await page.getByText("Delivered", { exact: true }).first().waitFor();
    expect(await page.getByText('{"received":true}').count()).to.equal(1);
  });

  it("breaks the receiver, sees the retry, repairs it, and sends again", async () => {
    await page.goBack();
    await page.getByRole("link", { name: "Open the receiver" }).click();
    const { pathname, search } = new URL(page.url());
    await list("Requests").getByRole("listitem").first().waitFor();
    expect(await seriousFindings(page), "the receiver with requests").to.deep.equal([]);
    const receiver = (pathname + search).replace("/dashboard", "");
    await page.getByRole("button", { name: "503" }).click();
    await page.getByText("It responds with 503").waitFor();
    await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Deliveries" }).click();
    await settled(page);
    await mark();
    await send({ name: "second" });
    // It fails, and is tried again while the page is watched.
    const row = page.getByRole("row").filter({ hasText: "Pending" });
    await row.getByText("503", { exact: true }).waitFor();
    await row.getByRole("cell", { name: "2", exact: true }).waitFor();
    expect(await isMarked()).to.equal(true);
    await row.getByRole("link").first().click();
    await page.getByText("Attempt 2").waitFor();
    await keepScreenshot(page, "story-retry");

    await tab.go(receiver);
    await page.getByRole("button", { name: "200" }).click();
    await page.getByText("It responds with 200").waitFor();
    await page.goBack();
    await page.getByRole("button", { name: "Retry now" }).click();
    await page.getByText("Delivered", { exact: true }).waitFor();
    await page.getByText("Attempt 3").waitFor();
  });

  it("replays an event to all that listen to it", async () => {
    await page.getByRole("link", { name: "Where did it go?" }).click();
    await page.getByRole("button", { name: "Replay to all …" }).click();
    const question = page.getByRole("dialog");
    await question.getByText("1 of them has received it already").waitFor();
    await question.getByRole("button", { name: "Replay to 1 listener" }).click();
    await page.getByText("Attempt 4").waitFor();
  });

  it("rotates a signing key by keyboard, and shows the new one once", async () => {
    await tab.open("/webhooks");
    await page.getByRole("link", { name: "Echo receiver" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "Signing" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Rotate" }).focus();
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog");
    await dialog.waitFor();
    expect(await seriousFindings(page)).to.deep.equal([]);
    // The dialog has the focus, and Escape leaves it.
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    // The closing dialog may take the focus back to where it was.
    await until(async () => {
      if ((await dialog.count()) === 0) await page.getByRole("button", { name: "Rotate" }).press("Enter");
      return (await dialog.count()) > 0;
    });
    await dialog.getByRole("button", { name: "Rotate" }).focus();
    await page.keyboard.press("Enter");
    await page
      .getByRole("region", { name: "Signing key" })
      .getByText(/^whsec_/)
      .waitFor();
    await page.reload();
    await settled(page);
    expect(await page.getByText(/^whsec_/).count()).to.equal(0);
  });

  it("deploys code from the editor, after a try", async () => {
    await tab.open("/sources/new");
    const code = page.getByRole("textbox", { name: "Code of the component" });
    await code.waitFor();
    await code.click();
    await page.keyboard.press("Control+A");
    await page.keyboard.insertText("export default { name: 'Broken' version: 1 }");
    await page.getByText(/^Line 1: /).waitFor();
    await page.keyboard.press("Control+A");
    await page.keyboard.insertText(
      "export default { name: 'Typed', version: '0.0.1', props: { http: '$.interface.http', greeting: { type: 'string', label: 'Greeting' } }, " +
        "run({ body }) { console.log('it ran'); this.$emit({ text: this.greeting + ' ' + body.name }); } }",
    );
    await page.getByLabel("Greeting").fill("Good day");
    await page.getByRole("button", { name: "Run once" }).click();
    await page.getByText('"Good day world"').waitFor();
    await page.getByText("it ran").first().waitFor();
    await keepScreenshot(page, "story-editor");
    await page.getByRole("button", { name: "Deploy" }).click();
    await page.getByRole("heading", { name: /typed/i, level: 1 }).waitFor();
    await page.getByText("Waiting for the first event").waitFor();
  });

  it("meets no error of the browser on the way", () => {
    expect(tab.problems).to.deep.equal([]);
  });
});
