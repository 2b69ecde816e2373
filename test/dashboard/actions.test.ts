// runs-long: npm test has test/dashboard/story.test.ts, a whole walk in a browser

import { expect } from "chai";
import type { Browser, Page } from "playwright-core";
import type { Api, SourceView } from "../support/api.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
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

const CODE = `export default { name: "Actions", version: "0.0.1",
  props: {
    timer: { type: "$.interface.timer", default: { intervalSeconds: 3600 } },
    token: { type: "string", label: "Token", secret: true },
    other: { type: "string", label: "Other", secret: true, optional: true },
  },
  sampleEmit: { text: "a sample" },
  run() {} };`;

describe("what a reader does in the dashboard", () => {
  let browser: Browser;
  let system: System;
  let receiver: Receiver;
  let api: Api & { userId: string };
  let source: SourceView;
  let webhook: string;
  let tab: Tab;
  let page: Page;

  before(async function () {
    browser = await browserOrSkip(this);
    system = await startSystem();
    receiver = await startReceiver();
    api = await system.user();
    source = await api.createSource({
      component_code: CODE,
      name: "actions",
      configured_props: { token: "s3cret-1" },
    });
    webhook = (await api.createWebhook(receiver.url, { name: "Billing" })).id;
    await api.subscribe(source.id, webhook);
    const events = [{ event: { id: "order-17" } }, { event: { id: "order-18" } }];
    await api.expect(202, "POST", `/sources/${source.id}/events`, { body: { events } });
    await until(() => receiver.requests.length === 2);
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
  const rows = () => page.getByRole("row").filter({ hasText: "actions" });

  it("finds deliveries by a word of the payload, in the address, and replays what is found", async () => {
    await open("/deliveries");
    await until(async () => (await rows().count()) === 2);
    await page.getByLabel("Words in the payload").fill("order-18");
    await page.keyboard.press("Enter");
    await until(async () => (await rows().count()) === 1);
    expect(page.url()).to.include("text=order-18");
    await button("Replay these …").click();
    // What failed, unless another state is chosen; what arrived already is asked about.
    await dialog().getByText("0 deliveries match these filters.", { exact: false }).waitFor();
    await dialog().getByLabel("State").selectOption("delivered");
    await dialog().getByText("1 delivery matches these filters.", { exact: false }).waitFor();
    expect(await dialog().getByRole("button", { name: "Replay 1" }).isDisabled()).to.equal(true);
    await dialog().getByLabel("Send 1 delivery once more that arrived already").check();
    expect(await seriousFindings(page)).to.deep.equal([]);
    const sent = receiver.requests.length;
    await dialog().getByRole("button", { name: "Replay 1" }).click();
    await dialog().getByText("1 of 1 are on their way").waitFor();
    await until(() => receiver.requests.length === sent + 1);
    expect(receiver.requests.at(-1)?.raw).to.include("order-18");
  });

  it("says that nothing matches, and clears the filters", async () => {
    await open("/deliveries?text=order-99");
    await page.getByText("Nothing matches").waitFor();
    await button("Clear filters").click();
    await until(async () => (await rows().count()) === 2);
  });

  it("replays one event to one of its listeners", async () => {
    await open("/deliveries?text=order-17");
    await rows().getByRole("link").first().click();
    await page.getByRole("link", { name: "Where did it go?" }).click();
    await page.getByRole("heading", { name: "Where did it go?" }).waitFor();
    const sent = receiver.requests.length;
    await button("Replay to this").click();
    await until(() => receiver.requests.length === sent + 1);
    expect(receiver.requests.at(-1)?.raw).to.include("order-17");
    await page.getByText("Attempt 2").waitFor();
  });

  it("tests a filter on the last events, and saves it", async () => {
    await open("/subscriptions");
    await button("Filter").click();
    await dialog().getByRole("textbox", { name: "Filter" }).fill('{ "id": "order-17" }');
    await button("Test on the last events").click();
    await dialog().getByText("1 of 2").waitFor();
    await dialog().getByText("left out").waitFor();
    await keepScreenshot(page, "action-filter-test");
    await button("Save").click();
    await dialog().waitFor({ state: "detached" });
    await page.getByText('{"id":"order-17"}').waitFor();
  });

  it("switches a source off and on, and a webhook on again", async () => {
    await open(`/sources/${source.id}`);
    await button("Switch off").click();
    await page.getByText("The source is inactive.").waitFor();
    expect(await api.expect(200, "GET", `/sources/${source.id}`)).to.include({ active: false });
    await button("Switch on").click();
    await page.getByText("The source is active.").waitFor();
    await until(async () => (await api.expect(200, "GET", `/sources/${source.id}`)).active);
    await api.expect(200, "PUT", `/webhooks/${webhook}`, { body: { active: false } });
    await open(`/webhooks/${webhook}`);
    await button("Enable").click();
    await page.getByText("The webhook is active again.").waitFor();
    expect(await api.expect(200, "GET", `/webhooks/${webhook}`)).to.include({ active: true });
  });

  it("sends a test event to a webhook, and shows the response", async () => {
    await open(`/webhooks/${webhook}`);
    const sent = receiver.requests.length;
    await button("Send a test event").click();
    await until(() => receiver.requests.length === sent + 1);
    await dialog().getByText("200").first().waitFor();
  });

  it("shows which secrets are set and never their values, and when an interval is due next", async () => {
    await open(`/sources/${source.id}/settings`);
    const times = page.getByRole("list", { name: "Next five times" });
    await until(async () => (await times.getByRole("listitem").count()) === 5);
    await page.getByText("Set, and never shown; leave this empty to keep it.").waitFor();
    await page.getByText("Not set. Stored encrypted, never shown.").waitFor();
    expect(await page.content()).not.to.include("s3cret");
    await page.getByLabel("Other (optional)").fill("s3cret-2");
    await page.getByLabel("Every … seconds").fill("1800");
    await page.getByRole("list", { name: "If it were saved now" }).waitFor();
    await button("Save").click();
    await until(async () => (await page.getByText("Set, and never shown").count()) === 2);
    expect(await page.content()).not.to.include("s3cret");
    expect((await api.expect(200, "GET", `/sources/${source.id}`)).secrets_set).to.deep.equal([
      "token",
      "other",
    ]);
  });

  it("emits the sample of the code, with a secret that is asked for, because one that is set is not shown", async () => {
    await open(`/sources/${source.id}/code`);
    await page.getByLabel("Token").fill("another");
    await button("Emit the sample").click();
    await page.getByRole("status").getByText('"a sample"').waitFor();
  });

  it("makes an API key, shows it once, and revokes it", async () => {
    await open("/keys");
    await button("New key").click();
    await dialog().getByLabel("Name").fill("laptop");
    await button("Create key").click();
    const key = (await dialog().getByRole("region", { name: "API key" }).textContent())?.match(/hw_\w+/)?.[0];
    const status = async () =>
      (await fetch(`${system.baseUrl}/users/me`, { headers: { authorization: `Bearer ${key}` } })).status;
    expect(await status()).to.equal(200);
    await button("I have kept it").click();
    const row = page.getByRole("row").filter({ hasText: "laptop" });
    await row.getByRole("button", { name: "Revoke" }).click();
    await dialog().getByRole("button", { name: "Revoke" }).click();
    await row.getByText("Revoked").waitFor();
    expect(await page.content()).not.to.include(key ?? "");
    await until(async () => (await status()) === 401);
  });

  it("ends the session of another browser", async () => {
    const other = await openTab(browser, system);
    await signIn(other, api);
    await open("/sessions");
    const others = page.getByRole("row").filter({ hasText: "Chrome" }).filter({ hasNotText: "This one" });
    await others.first().getByRole("button", { name: "End" }).click();
    await until(async () => (await others.count()) === 0);
    await until(async () => {
      await other.page.reload();
      return (await other.page.getByLabel("API key").count()) > 0;
    });
    await other.close();
  });

  it("meets no error of the browser on the way", () => {
    expect(tab.problems).to.deep.equal([]);
  });
});
