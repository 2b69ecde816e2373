// runs-long: npm test has test/dashboard/story.test.ts, a whole walk in a browser

import { expect } from "chai";
import type { Browser, Page } from "playwright-core";
import type { Api } from "../support/api.ts";
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

const CODE = `export default (event, meta) => {
  console.log("looking at", event.n);
  if (event.n === 2) return null;
  if (event.n === 3) throw new Error("no three");
  return event.n === 4 ? event : { tenfold: event.n * 10 };
};
`;

describe("the editor of a subscription's function", () => {
  let browser: Browser;
  let system: System;
  let receiver: Receiver;
  let api: Api & { userId: string };
  let flow: string;
  let webhook: string;
  let subscription: string;
  let tab: Tab;
  let page: Page;

  before(async function () {
    browser = await browserOrSkip(this);
    system = await startSystem({ DELIVERY_RETRY_SCHEDULE: "1s,1s,1h" });
    receiver = await startReceiver();
    api = await system.user();
    flow = (await api.expect(201, "POST", "/workflows", { body: { name: "Flow" } })).id;
    webhook = (await api.createWebhook(receiver.url, { name: "Billing" })).id;
    const query = { emitter_id: flow, listener_id: webhook };
    const body = { filter: { n: { $ne: 5 } } };
    subscription = (await api.expect(200, "POST", "/subscriptions", { query, body })).id;
    await publish(1, 2, 3, 4, 5);
    await until(() => receiver.requests.length === 4);
    tab = await openTab(browser, system);
    page = tab.page;
    await signIn(tab, api, "/subscriptions");
    await settled(page);
  });
  after(async () => {
    await browser?.close();
    await receiver?.close();
    await system?.stop();
  });

  const publish = (...ns: number[]) =>
    api.expect(202, "POST", `/workflows/${flow}/events`, {
      body: { events: ns.map(n => ({ event: { n } })) },
    });
  const editor = () => page.getByRole("textbox", { name: "Code of the function" });
  const write = async (text: string) => {
    await editor().click();
    await page.keyboard.press("Control+A");
    await page.keyboard.insertText(text);
  };
  const button = (name: string) => page.getByRole("button", { name, exact: true });
  const marked = () => page.locator(".editor .cm-line:has(.cm-lintRange-error, .cm-lintPoint-error)");
  const results = () => page.locator(".tried");
  /** Presses a button, and returns the status of the request that it sends. */
  const press = async (name: string, path: string) => {
    // The page reads the subscription again by itself, too.
    const response = page.waitForResponse(
      one => one.request().method() !== "GET" && new URL(one.url()).pathname.endsWith(path),
    );
    await button(name).click();
    return (await response).status();
  };
  const stored = () => api.expect(200, "GET", `/subscriptions/${subscription}`);

  it("opens from the list, and can be left by keyboard", async () => {
    await page.getByRole("link", { name: "Function", exact: true }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Flow → Billing" }).waitFor();
    await editor().focus();
    expect(await button("Save").isDisabled(), "nothing is changed").to.equal(true);
    await page.keyboard.press("Escape");
    await page.keyboard.press("Tab");
    expect(await editor().evaluate(one => one === one.ownerDocument.activeElement)).to.equal(false);
    expect(await seriousFindings(page)).to.deep.equal([]);
  });

  it("tries it on the last events: what becomes of each, or why it is not delivered, and stores nothing", async () => {
    await write(CODE);
    expect(await press("Try", "/function_test")).to.equal(200);
    await page.getByText("2 of 5 events would be sent.").waitFor();
    expect(await results().locator("summary .badge").allTextContents()).to.deep.equal([
      "left out by the filter",
      "sent as it is",
      "fails",
      "not delivered",
      "changed",
    ]);
    await results().last().locator("summary").click();
    await results().last().getByText("tenfold: ").waitFor();
    await results().last().getByText("looking at 1").waitFor();
    await results().nth(2).getByText("no three (line 4, column 28)").waitFor();
    await results().nth(3).locator("summary").click();
    await results().nth(3).getByText("null: the event is not delivered.").waitFor();
    await marked().getByText("no three").waitFor();
    expect(await stored()).not.to.have.property("function");
    expect(await seriousFindings(page)).to.deep.equal([]);
    await keepScreenshot(page, "function-tried");
  });

  it("tries it on an event of the reader's", async () => {
    await page.getByLabel("Event of your own").fill('{ "n": 7 }');
    expect(await press("Try", "/function_test")).to.equal(200);
    await page.getByText("1 of 1 event would be sent.").waitFor();
    await results().getByText("70").waitFor();
    await page.getByLabel("Event of your own").fill("{");
    await button("Try").click();
    await page.locator(".notice.bad").waitFor();
    await page.getByLabel("Event of your own").fill("");
  });

  it("shows what is wrong with code at its line, and saves none of it", async () => {
    await write("export default event => {\n  return event.;\n};\n");
    expect(await press("Try", "/function_test")).to.equal(400);
    await marked().getByText("return event.;").waitFor();
    await write("export default event => {\n  return event..x;\n};\n");
    await marked().waitFor({ state: "detached" });
    expect(await press("Save", subscription)).to.equal(400);
    await page.getByText(/^line 2, column 16: .*found "\."/).waitFor();
    await marked().getByText("return event..x;").waitFor();
    expect(await stored()).not.to.have.property("function");
  });

  it("saves it, keeps the filter, and shows how often it failed, and on what", async () => {
    await write(CODE);
    expect(await press("Save", subscription)).to.equal(200);
    await until(() => button("Save").isDisabled());
    expect(await stored()).to.deep.include({ function: CODE, filter: { n: { $ne: 5 } } });
    await publish(3);
    await page.getByText(/It failed on \d events? since it was saved/).waitFor();
    await page.getByText("no three (line 4, column 28)").waitFor();
    await page.getByRole("region", { name: "Log of the last error" }).getByText("looking at 3").waitFor();
    await marked().getByText("no three").waitFor();
    const { last_function_error } = await stored();
    await page.getByRole("link", { name: last_function_error.event_id }).waitFor();
    await keepScreenshot(page, "function-errors");
    expect(await seriousFindings(page)).to.deep.equal([]);
    await tab.go("/subscriptions");
    await page.getByText(/^\d errors?$/).waitFor();
    await page.getByRole("link", { name: "Function", exact: true }).click();
  });

  it("keeps what is typed while errors arrive, and asks before it is lost", async () => {
    await editor().waitFor();
    await write(`${CODE}// mine`);
    const { function_errors } = await stored();
    const events = Array.from({ length: 9 - function_errors }, () => 3);
    await publish(...events);
    await until(async () => (await stored()).function_errors > 8);
    await page.getByText(/It failed on \d\d events/).waitFor();
    expect(await editor().innerText()).to.include("// mine");
    await page.getByRole("link", { name: "Webhooks" }).click();
    const question = page.getByRole("dialog").filter({ hasText: "Leave without saving?" });
    await question.getByRole("button", { name: "Cancel" }).click();
    expect(await editor().innerText()).to.include("// mine");
  });

  it("removes it, after a question", async () => {
    await button("Remove").click();
    const dialog = page.getByRole("dialog");
    expect(await seriousFindings(page)).to.deep.equal([]);
    await dialog.getByRole("button", { name: "Remove it" }).click();
    await button("Remove").waitFor({ state: "detached" });
    expect(await stored()).not.to.have.any.keys("function", "function_errors");
    expect(await stored()).to.have.property("filter");
    expect(await editor().innerText()).to.include("return event;");
  });

  it("shows in the delivery what was sent, and the event before it", async () => {
    const query = { emitter_id: flow, listener_id: webhook };
    await api.expect(200, "POST", "/subscriptions", { query, body: { function: CODE } });
    await publish(6);
    const sent = await until(() => receiver.requests.find(({ raw }) => raw === '{"tenfold":60}'));
    await publish(2);
    const dropped = await until(async () => {
      const rows = await api.expect(200, "GET", `/webhooks/${webhook}/deliveries`);
      return rows.find((one: { reason: string | null }) => one.reason === "dropped-by-function");
    });
    await tab.open(`/deliveries/${dropped.id}`);
    await page.getByText("The subscription's function dropped the event.").waitFor();
    await tab.open(`/deliveries/${sent.headers["webhook-id"]}`);
    await page.getByText("tenfold: ").waitFor();
    await page.getByText("The event before the subscription's function").click();
    await page.getByText("n: ").last().waitFor();
    expect(await seriousFindings(page)).to.deep.equal([]);
    await page.getByRole("link", { name: subscription }).click();
    await editor().waitFor();
  });

  it("asks for an emitter where the subscription has many, and says what has no function", async () => {
    const second = (await api.expect(201, "POST", "/workflows", { body: { name: "Second" } })).id;
    const all = await api.subscribe("p_*", webhook, "other");
    await tab.open(`/subscriptions/${all.id}`);
    await editor().waitFor();
    expect(await button("Try").isDisabled()).to.equal(true);
    await page.getByLabel("Events of").fill(second);
    await page.getByLabel("Events of").press("Tab");
    expect(await press("Try", "/function_test")).to.equal(200);
    await page.getByText("This channel has no events yet").waitFor();
    const between = await api.subscribe(flow, second);
    await tab.open(`/subscriptions/${between.id}`);
    await page
      .getByText("A source, a workflow or an agent receives events as they are", { exact: false })
      .waitFor();
    expect(await editor().count()).to.equal(0);
  });

  it("changes an organization's subscription that was opened without it, and makes none of the reader's", async () => {
    const org = await system.organization(api.userId);
    const team = (await api.createWebhook(receiver.url, { name: "Team", org_id: org })).id;
    const query = { emitter_id: org, listener_id: team, org_id: org };
    const { id } = await api.expect(200, "POST", "/subscriptions", { query });
    const before = await api.expect(200, "GET", "/users/me/subscriptions");
    await tab.open(`/subscriptions/${id}`);
    await editor().waitFor();
    const isMoved = () => new URL(page.url()).searchParams.get("org") === org;
    await until(isMoved);
    await page.getByRole("link", { name: "Team" }).waitFor();
    await write(CODE);
    expect(await press("Save", id)).to.equal(200);
    await until(() => button("Save").isDisabled());
    await page.getByRole("link", { name: "Change filter" }).click();
    await page.getByRole("dialog").getByRole("textbox", { name: "Filter" }).fill('{ "n": 1 }');
    const saved = page.waitForResponse(one => one.request().method() === "PUT");
    await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
    expect((await saved).status()).to.equal(200);
    expect(await api.expect(200, "GET", `/subscriptions/${id}`)).to.deep.include({
      ...{ function: CODE, filter: { n: 1 }, org_id: org },
    });
    await tab.open(`/subscriptions?edit=${id}`);
    await until(isMoved);
    await page.getByRole("dialog").getByRole("textbox", { name: "Filter" }).fill("");
    const removed = page.waitForResponse(one => one.request().method() === "PUT");
    await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
    expect((await removed).status()).to.equal(200);
    expect(await api.expect(200, "GET", `/subscriptions/${id}`)).not.to.have.property("filter");
    const ids = (rows: { id: string }[]) => rows.map(one => one.id);
    expect(ids(await api.expect(200, "GET", "/users/me/subscriptions"))).to.deep.equal(ids(before));
  });

  it("meets no error of the browser on the way", () => {
    const notes = tab.problems.filter(one => !/status of 400/.test(one));
    expect(notes).to.deep.equal([]);
  });
});
