// runs-long: npm test has test/dashboard/prop-form.test.ts and test/destinations/action/routes.test.ts

import { expect } from "chai";
import type { Browser, Page } from "playwright-core";
import type { Api, SourceView } from "../support/api.ts";
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

const CODE = `
const CITIES = { CH: ["Bern", "Zug"], AT: ["Wien"] };
export default { name: "Post", version: "0.0.1", key: "post", type: "action",
  props: {
    chat: { type: "app", app: "chat", label: "Chat" },
    token: { type: "string", label: "Token", secret: true },
    text: { type: "string", label: "Text" },
    country: { type: "string", label: "Country", options: ["CH", "AT"] },
    city: { type: "string", label: "City", options() {
      if (this.token !== "right" || this.chat.$auth.token !== "of-work") throw new Error("401 from the atlas");
      return CITIES[this.country];
    } },
    count: { type: "integer", label: "Count", optional: true },
    mode: { type: "string", label: "Mode", reloadProps: true, options: ["plain", "sized"], default: "plain" },
  },
  additionalProps() { return this.mode === "sized" ? { size: { type: "integer", label: "Size" } } : {}; },
  run({ $ }) { $.export("$summary", this.text); } };`;
const SOURCE = `export default { name: "Beat", version: "0.0.1",
  props: { http: "$.interface.http", word: { type: "string", label: "Word" } }, run() {} };`;

describe("the form of an action's props", () => {
  let browser: Browser;
  let system: System;
  let api: Api & { userId: string };
  let tab: Tab;
  let page: Page;
  let connection: string;
  let component: string;
  let source: string;

  before(async function () {
    browser = await browserOrSkip(this);
    system = await startSystem();
    api = await system.user();
    const fields = { token: "of-work" };
    const body = { app: "chat", name: "Work", fields };
    connection = (await api.expect(201, "POST", "/connections", { body })).id;
    component = await saved(CODE);
    source = await saved(SOURCE);
    tab = await openTab(browser, system);
    page = tab.page;
    await signIn(tab, api, "/components");
    await settled(page);
  });
  after(async () => {
    await browser?.close();
    await system?.stop();
  });

  const saved = async (component_code: string): Promise<string> =>
    (await api.expect(201, "POST", "/components", { body: { component_code } })).id;
  const press = (name: string) => page.getByRole("button", { name, exact: true }).click();
  const field = (label: string) => page.getByLabel(label, { exact: true });
  const city = () => page.getByRole("group", { name: "City" });
  const idOfPage = () => new URL(page.url()).pathname.split("/")[3] ?? "";
  const stored = async () => (await api.expect(200, "GET", `/destinations/${idOfPage()}`)).action;
  /** Presses a button, and returns the status of the request that it sends there. */
  const send = async (name: string, path: string) => {
    const sent = page.waitForResponse(
      one => one.request().method() === "POST" && new URL(one.url()).pathname.endsWith(path),
    );
    await press(name);
    return (await sent).status();
  };

  it("is reached from the component, which the list names an action", async () => {
    const row = page.getByRole("row").filter({ hasText: "Post" });
    await row.getByText("action", { exact: true }).waitFor();
    await page.getByRole("row").filter({ hasText: "Beat" }).getByText("source", { exact: true }).waitFor();
    await field("Type").selectOption({ label: "Actions" });
    await page.getByRole("link", { name: "Beat" }).waitFor({ state: "detached" });
    expect(page.url()).to.include("type=action");
    expect(await seriousFindings(page)).to.deep.equal([]);
    await page.getByRole("link", { name: "Post" }).click();
    await page.getByRole("link", { name: "Deploy as action" }).click();
    await page.getByRole("heading", { name: "Deploy Post" }).waitFor();
    await field("Text").waitFor();
    expect(await seriousFindings(page)).to.deep.equal([]);
  });

  it("deploys with a connection, choices of the code, further fields, a secret and templates", async () => {
    expect(await send("Deploy", "/destinations")).to.equal(400);
    await isInvalid(field("Text"));
    await field("Chat").selectOption(connection);
    await field("Token").fill("right");
    await field("Text").fill("Order {{event.id}}");
    await field("Country").selectOption({ label: "CH" });
    await press("Load choices: City");
    await city().getByLabel("Zug").check();
    await press("From the event: Count (optional)");
    await field("Count (optional)").fill("{{event.count}}");
    await field("Mode").selectOption({ label: "sized" });
    await field("Size").fill("7");
    expect(await seriousFindings(page)).to.deep.equal([]);
    await keepScreenshot(page, "action-form");
    expect(await send("Deploy", "/destinations")).to.equal(201);
    await page.getByRole("heading", { name: "Post", exact: true }).waitFor();
    const { configured_props, dynamic_props_id, secrets_set } = await stored();
    expect(configured_props).to.deep.equal({
      chat: { authProvisionId: connection },
      ...{ text: "Order {{event.id}}", country: "CH", city: "Zug", count: "{{event.count}}" },
      ...{ mode: "sized", size: 7 },
    });
    expect(dynamic_props_id).to.match(/^dyp_/);
    expect(secrets_set).to.include("token");
  });

  it("changes it: what is stored is shown, secrets are not, and choices come with the stored ones", async () => {
    await page.getByRole("link", { name: "Settings" }).click();
    await field("Text").waitFor();
    expect(await field("Component").inputValue()).to.equal(component);
    expect(await field("Count (optional)").inputValue()).to.equal("{{event.count}}");
    expect(await field("Size").inputValue()).to.equal("7");
    expect(await field("Chat").inputValue()).to.equal(connection);
    expect(await page.content()).not.to.include('value="right"');
    await press("Load choices: City");
    await city().getByLabel("Bern").check();
    await press("The same for every event: Count (optional)");
    await field("Count (optional)").fill("3");
    await press("From the event: Country");
    await field("Country").fill("{{event.country}}");
    await saveAndWait(page, idOfPage());
    const { configured_props, secrets_set, dynamic_props_id } = await stored();
    expect(configured_props).to.include({ city: "Bern", count: 3, country: "{{event.country}}", size: 7 });
    expect(secrets_set).to.include("token");
    expect(dynamic_props_id).to.match(/^dyp_/);
    expect(await seriousFindings(page)).to.deep.equal([]);
  });

  it("names the field that is wrong, and takes away what is emptied", async () => {
    await field("Text").fill("{{user.name}}");
    const rejected = page.waitForResponse(one => one.request().method() === "PUT");
    await press("Save");
    expect((await rejected).status()).to.equal(400);
    await page.getByText("must be the path of a value", { exact: false }).first().waitFor();
    await isInvalid(field("Text"));
    await field("Text").fill("Order");
    await field("Count (optional)").fill("");
    await saveAndWait(page, idOfPage());
    await until(async () => !("count" in (await stored()).configured_props));
    expect((await stored()).configured_props).to.include({ text: "Order", size: 7 });
  });

  it("takes another component, keeps the values that it has, too, and asks for the secret again", async () => {
    const newer = await saved(CODE.replace("0.0.1", "0.0.2"));
    await field("Component").selectOption({ label: "Another, by its id or key …" });
    await field("Id or key").fill(source);
    await press("Use it");
    await page.getByText("This is a source", { exact: false }).waitFor();
    await field("Id or key").fill(newer);
    await press("Use it");
    await until(async () => (await field("Component").inputValue()) === newer);
    await page.getByText("Another component gets no secret of the one before", { exact: false }).waitFor();
    expect(await field("Token").getAttribute("placeholder")).to.equal("not set");
    await field("Text").fill("Order, newer");
    const rejected = page.waitForResponse(one => one.request().method() === "PUT");
    await press("Save");
    expect((await rejected).status()).to.equal(400);
    await isInvalid(field("Token"));
    await field("Token").fill("right");
    await saveAndWait(page, idOfPage());
    const { component_id, configured_props, secrets_set } = await stored();
    expect(component_id).to.equal(newer);
    expect(configured_props).to.include({ text: "Order, newer", city: "Bern" });
    expect(secrets_set).to.include("token");
  });

  it("deploys a source of a component, too", async () => {
    await tab.open(`/components/${source}`);
    await page.getByRole("link", { name: "Deploy source" }).click();
    await field("Word").fill("hello");
    await field("Name").fill("beats");
    expect(await page.getByRole("button", { name: "From the event", exact: false }).count()).to.equal(0);
    expect(await send("Deploy", "/sources")).to.equal(201);
    await page.getByRole("heading", { name: "beats" }).waitFor();
    const { component_id, configured_props }: SourceView = await api.expect(
      200,
      "GET",
      `/sources/${idOfPage()}`,
    );
    expect([component_id, configured_props.word]).to.deep.equal([source, "hello"]);
  });

  it("meets no error of the browser on the way", () => {
    expect(tab.problems.filter(one => !/status of 400/.test(one))).to.deep.equal([]);
  });
});
