// runs-long: npm test has test/dashboard/story.test.ts, a whole walk in a browser
import { expect } from "chai";
import type { Browser, Page } from "playwright-core";
import type { Api, SourceView } from "../support/api.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";
import {
  browserOrSkip,
  openTab,
  saveAndWait,
  seriousFindings,
  settled,
  signIn,
  type Tab,
} from "./signed-in.ts";

const CODE = `export default { name: "Rooms", version: "0.0.1",
  props: {
    chat: { type: "app", app: "chat", label: "Chat" },
    messages: { type: "$.interface.apphook", appProp: "chat" },
    note: { type: "string", optional: true, label: "Note" },
  },
  run(event) { this.$emit(event); } };`;

describe("a form that asks for an app's account", () => {
  let browser: Browser;
  let system: System;
  let api: Api;
  let source: SourceView;
  let tab: Tab;
  let page: Page;
  const ids: Record<string, string> = {};

  before(async function () {
    browser = await browserOrSkip(this);
    system = await startSystem();
    api = await system.user();
    for (const [app, name] of [
      ["chat", "Work"],
      ["chat", "Home"],
      ["weather", "Sky"],
    ]) {
      const body = { app, name, fields: { token: "t" } };
      ids[name as string] = (await api.expect(201, "POST", "/connections", { body })).id;
    }
    const configured_props = { chat: { authProvisionId: ids.Work } };
    source = await api.createSource({ component_code: CODE, configured_props });
    tab = await openTab(browser, system);
    page = tab.page;
    await signIn(tab, api, `/sources/${source.id}/settings`);
    await settled(page);
  });
  after(async () => {
    await browser?.close();
    await system?.stop();
  });

  const chat = (on: Page = page) => on.getByLabel("Chat", { exact: true });
  const labels = async () =>
    (await chat().locator("option").allTextContents()).map(text => text.split(" (")[0]);
  const stored = () => api.expect(200, "GET", `/sources/${source.id}`);

  it("lists the connections of that app, with the one that is used, and where its events arrive", async () => {
    await until(async () => (await labels()).length === 4);
    expect((await labels()).sort()).to.deep.equal(["Choose …", "Home", "Other credentials …", "Work"]);
    expect(await chat().inputValue()).to.equal(ids.Work);
    const { endpoint_url } = (await stored()).configured_props.messages as { endpoint_url: string };
    await page.getByText(endpoint_url, { exact: true }).first().waitFor();
    expect(await seriousFindings(page)).to.deep.equal([]);
  });

  it("saves another one, and the source listens there", async () => {
    await chat().selectOption(ids.Home as string);
    await saveAndWait(page, source.id);
    const { configured_props } = await stored();
    expect(configured_props.chat).to.deep.equal({ authProvisionId: ids.Home });
    expect(configured_props.messages.endpoint_url).to.contain(ids.Home);
  });

  it("has a link to make one, which the list has as soon as the reader is back", async () => {
    await page.getByLabel("Note (optional)").fill("kept while another tab is open");
    const opened = page.context().waitForEvent("page");
    await page.getByRole("link", { name: "Connect an account" }).click();
    const other = await opened;
    await other.getByLabel("App", { exact: true }).waitFor();
    expect(await other.getByLabel("App", { exact: true }).inputValue()).to.equal("chat");
    await other.getByLabel("Name").fill("Club");
    await other.getByLabel("Value").fill("secret");
    const created = other.waitForResponse(response => response.request().method() === "POST");
    await other.getByRole("button", { name: "Create connection" }).click();
    expect((await created).status()).to.equal(201);
    await other.close();
    // A headless browser gives no tab the focus.
    await page.evaluate("dispatchEvent(new Event('focus'))");
    await until(async () => (await labels()).includes("Club"));
    expect(await page.getByLabel("Note (optional)").inputValue()).to.equal("kept while another tab is open");
  });

  it("takes other credentials, and says what is wrong with them", async () => {
    await chat().selectOption("Other credentials …");
    await page.getByText("A connection is set, which they replace.", { exact: false }).waitFor();
    expect(await page.getByText("Not set.", { exact: false }).count()).to.equal(0);
    await page.getByLabel("Chat: credentials").fill('{"$auth": {"token": "own"}}');
    const rejected = page.waitForResponse(response => response.request().method() === "PUT");
    await page.getByRole("button", { name: "Save" }).click();
    expect((await rejected).status()).to.equal(400);
    await page
      .getByText(/must be a connection/)
      .first()
      .waitFor();
    await chat().selectOption(ids.Work as string);
    await saveAndWait(page, source.id);
    expect((await stored()).configured_props.chat).to.deep.equal({ authProvisionId: ids.Work });
  });

  it("does the same for code that is not deployed yet", async () => {
    await tab.open("/sources/new");
    await settled(page);
    await page.getByLabel("Code of the component").click();
    await page.keyboard.press("ControlOrMeta+A");
    await page.keyboard.insertText(CODE.replace("Rooms", "New rooms"));
    await page.getByText("Its address is made when it is deployed.").first().waitFor();
    await chat().selectOption(ids.Home as string);
    const created = page.waitForResponse(
      response => response.request().method() === "POST" && response.url().endsWith("/sources"),
    );
    await page.getByRole("button", { name: "Deploy" }).click();
    const { data } = (await (await created).json()) as { data: SourceView };
    expect(data.configured_props.chat).to.deep.equal({ authProvisionId: ids.Home });
  });

  it("shows the address on the page of connections, too", async () => {
    await tab.open("/connections");
    await settled(page);
    const { endpoint_url } = await api.expect(200, "GET", `/connections/${ids.Work}`);
    await page.getByText(endpoint_url, { exact: true }).waitFor();
    expect(await seriousFindings(page)).to.deep.equal([]);
  });

  it("replaces it there after a question", async () => {
    const { endpoint_url } = await api.expect(200, "GET", `/connections/${ids.Work}`);
    const row = page.getByRole("row").filter({ hasText: endpoint_url });
    await row.getByRole("button", { name: "Replace" }).click();
    await page.getByRole("dialog").getByText("works for 24 more hours", { exact: false }).waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Replace", exact: true }).click();
    await until(async () => {
      const now = await api.expect(200, "GET", `/connections/${ids.Work}`);
      return now.endpoint_url !== endpoint_url;
    });
    await page.getByText(endpoint_url, { exact: true }).waitFor({ state: "detached" });
  });

  it("says how events are read, in the dialog of a connection", async () => {
    const rules = async () => (await api.expect(200, "GET", `/connections/${ids.Work}`)).events;
    const dialog = page.getByRole("dialog");
    const edit = async () => {
      await page
        .getByRole("row")
        .filter({ hasText: ids.Work as string })
        .getByRole("button", { name: "Edit" })
        .click();
      await dialog.waitFor();
    };
    const save = async () => {
      await dialog.getByRole("button", { name: "Save" }).click();
      await dialog.waitFor({ state: "detached" });
    };
    await edit();
    await dialog.getByText("Events that the app sends").click();
    await dialog.getByLabel("What an event is called").fill("{{body.type}}\n\n {{body.type}}:{{body.room}} ");
    await dialog.getByLabel("Challenge").fill("{{body.challenge}}");
    expect(await seriousFindings(page)).to.deep.equal([]);
    await save();
    const names = ["{{body.type}}", "{{body.type}}:{{body.room}}"];
    expect(await rules()).to.deep.equal({ names, challenge: "{{body.challenge}}" });
    await edit();
    expect(await dialog.getByLabel("What an event is called").inputValue()).to.equal(names.join("\n"));
    await dialog.getByLabel("What an event is called").fill("push");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByText(/^What an event is called \[0\] /).waitFor();
    await dialog.getByLabel("What an event is called").fill("");
    await dialog.getByLabel("Challenge").fill("");
    await save();
    expect(await rules(), "as the operator says").to.equal(null);
  });

  it("meets no error of the browser on the way but the rejection", () => {
    expect(tab.problems.filter(problem => !/status of 400/.test(problem))).to.deep.equal([]);
  });
});
