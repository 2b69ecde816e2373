// runs-long: npm test has test/dashboard/story.test.ts, a whole walk in a browser

import { expect } from "chai";
import type { Browser, Page } from "playwright-core";
import { setOperator } from "../../src/accounts/operators.ts";
import { Connections } from "../../src/models/connection.ts";
import { type AppServer, registerApp, startAppServer } from "../connections/app-server.ts";
import type { Api } from "../support/api.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";
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

const CODE = `export default { name: "Uses", version: "0.0.1",
  props: { timer: { type: "$.interface.timer", default: { intervalSeconds: 3600 } }, weather: { type: "app", app: "weather" } },
  run() {} };`;

describe("the dashboard's connections", () => {
  let browser: Browser;
  let system: System;
  let server: AppServer;
  let api: Api & { userId: string };
  let tab: Tab;
  let page: Page;

  before(async function () {
    browser = await browserOrSkip(this);
    system = await startSystem({}, { workers: false });
    const { publicUrl } = system.web.config;
    server = await startAppServer(publicUrl);
    await registerApp(system.web, server);
    api = await system.user({ plan: "paid" });
    tab = await openTab(browser, system);
    page = tab.page;
    await signIn(tab, api, "/connections");
    await settled(page);
  });
  after(async () => {
    await browser?.close();
    await server?.stop();
    await system?.stop();
  });

  const connect = () => page.locator("header").getByRole("button", { name: "Connect" });
  const dialog = () => page.getByRole("dialog");
  const inDialog = (name: string) => dialog().getByRole("button", { name, exact: true });
  const row = (text: string) => page.getByRole("row").filter({ hasText: text });
  const stored = async (): Promise<{ id: string; name: string; app: string; field_names: string[] }[]> =>
    await api.expect(200, "GET", "/users/me/connections");
  /** Does something, and returns the status of the request to a path that ends like this. */
  const statusOf = async (path: string | RegExp, act: () => Promise<void>) => {
    const response = page.waitForResponse(
      one =>
        one.request().method() !== "GET" &&
        (typeof path === "string" ? one.url().endsWith(path) : path.test(one.url())),
    );
    await act();
    return (await response).status();
  };

  it("say what a connection is while there is none, and are made by keyboard", async () => {
    await page.getByText("No connections yet").waitFor();
    expect(await seriousFindings(page)).to.deep.equal([]);
    await connect().focus();
    await page.keyboard.press("Enter");
    await dialog().waitFor();
    expect(await seriousFindings(page)).to.deep.equal([]);
    await page.keyboard.press("Escape");
    await dialog().waitFor({ state: "detached" });
    await until(() => connect().evaluate(one => one === one.ownerDocument.activeElement));
    await page.keyboard.press("Enter");
    await dialog().getByLabel("Name").fill("Weather of Ada");
    await dialog().getByLabel("App").fill("weather");
    await dialog().getByLabel("Value").fill("s3cret-1");
    expect(await statusOf("/connections", () => page.keyboard.press("Enter"))).to.equal(201);
    await row("Weather of Ada").getByText("No fault known").waitFor();
    expect((await stored())[0]).to.deep.include({ app: "weather", field_names: ["api_key"] });
  });

  it("may have several fields, and say what is wrong with one", async () => {
    await connect().click();
    await dialog().getByLabel("App").fill("Not a slug");
    await dialog().getByLabel("Value").fill("s3cret-2");
    expect(await statusOf("/connections", () => inDialog("Create connection").click())).to.equal(400);
    await isInvalid(dialog().getByLabel("App"));
    await dialog().getByText(/^App /).waitFor();
    await dialog().getByLabel("App").fill("shop");
    await dialog().getByText(/^App /).waitFor({ state: "detached" });
    await dialog().getByLabel("Field").fill("user");
    await inDialog("Another field").click();
    await dialog().getByLabel("Field 2").fill("password");
    await dialog().getByLabel("Value 2").fill("s3cret-3");
    await inDialog("Another field").click();
    await inDialog("Remove field 3").click();
    expect(await seriousFindings(page)).to.deep.equal([]);
    expect(await statusOf("/connections", () => inDialog("Create connection").click())).to.equal(201);
    await row("shop").first().waitFor();
    expect((await stored())[0]?.field_names).to.have.members(["user", "password"]);
  });

  it("are renamed, and get new keys, all of them at once", async () => {
    const { id } = (await stored()).find(one => one.app === "shop") ?? { id: "" };
    const edit = async () => {
      await row("shop").getByRole("button", { name: "Edit" }).click();
      await dialog().waitFor();
    };
    const secret = async () => (await Connections(system.web.mongo).findById(id).lean())?.secrets;
    const before = await secret();
    await edit();
    await dialog().getByLabel("Name").fill("The shop");
    expect(await statusOf(`/connections/${id}`, () => inDialog("Save").click())).to.equal(200);
    await row("The shop").waitFor();
    expect(await secret(), "the keys are kept").to.deep.equal(before);
    await edit();
    await dialog().getByLabel("New value of user").fill("ada");
    await inDialog("Save").click();
    const isInvalid = (one: unknown) => (one as { matches(of: string): boolean }).matches(":invalid");
    expect(await dialog().getByLabel("New value of password").evaluate(isInvalid)).to.equal(true);
    await dialog().getByLabel("New value of password").fill("s3cret-4");
    expect(await statusOf(`/connections/${id}`, () => inDialog("Save").click())).to.equal(200);
    await dialog().waitFor({ state: "detached" });
    expect(await secret()).not.to.deep.equal(before);
    expect(await page.content()).not.to.include("s3cret");
  });

  it("let operators open private addresses to one of any account, in a dialog that fits 390 px in the dark", async () => {
    const owner = await system.user();
    const body = { app: "database", name: "The shop's", fields: { url: "postgres://db.internal/shop" } };
    const { id } = await owner.expect(201, "POST", "/connections", { body });
    const button = page.getByRole("button", { name: "Private addresses" });
    expect(await button.count(), "no operator").to.equal(0);
    await setOperator(system.worker, api.userId, true);
    await page.setViewportSize({ width: 390, height: 844 });
    await page.emulateMedia({ colorScheme: "dark" });
    await page.reload();
    await button.click();
    await dialog().getByLabel("Connection").fill(id);
    await inDialog("Show").click();
    const field = dialog().getByLabel("Open to its code");
    await field.fill("10.0.0.5:5432\n10.0.0.6");
    await inDialog("Save").click();
    await dialog().getByText("no. 2 must be host:port").first().waitFor();
    expect(await misfits(page)).to.deep.equal([]);
    await keepScreenshot(page, "private-addresses");
    expect(await seriousFindings(page)).to.deep.equal([]);
    await field.fill("10.0.0.5:5432 db.internal:5432");
    await inDialog("Save").click();
    await dialog().waitFor({ state: "detached" });
    const { private_addresses } = await owner.expect(200, "GET", `/connections/${id}`);
    expect(private_addresses).to.deep.equal(["10.0.0.5:5432", "db.internal:5432"]);
    await row("The shop").getByRole("button", { name: "Edit" }).click();
    await dialog().getByText("Verification", { exact: true }).click();
    await dialog().getByLabel("Provider", { exact: true }).fill("github");
    await page.keyboard.press("Enter");
    await dialog().getByLabel("Secret", { exact: true }).waitFor();
    expect(await misfits(page)).to.deep.equal([]);
    expect(await seriousFindings(page)).to.deep.equal([]);
    await keepScreenshot(page, "connection-390");
    await inDialog("Cancel").click();
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.emulateMedia({ colorScheme: "light" });
  });

  it("say who may send their app's events, and replace the secret", async () => {
    const { id } = (await stored()).find(one => one.app === "shop") ?? { id: "" };
    const verify = async () => (await api.expect(200, "GET", `/connections/${id}`)).verify;
    const edit = async () => {
      await row("shop").getByRole("button", { name: "Edit" }).click();
      await dialog().waitFor();
    };
    const save = () => statusOf(`/connections/${id}`, () => inDialog("Save").click());
    await edit();
    await dialog().getByText("Verification", { exact: true }).click();
    const provider = dialog().getByLabel("Provider", { exact: true });
    await provider.fill("github");
    await provider.press("Enter");
    await dialog().getByLabel("Secret", { exact: true }).fill("s3cret-of-github");
    expect(await seriousFindings(page)).to.deep.equal([]);
    await keepScreenshot(page, "connection-verification");
    expect(await save()).to.equal(200);
    await dialog().waitFor({ state: "detached" });
    expect(await verify()).to.include({ preset: "github", secrets: 1, mode: "enforce" });
    await edit();
    await dialog().getByText("1 secret is set, and never shown.").waitFor();
    await dialog().getByLabel("Name").fill("Shop of Ada");
    expect(await save()).to.equal(200);
    expect(await verify(), "kept").to.include({ preset: "github", secrets: 1 });
    await row("Shop of Ada").getByRole("button", { name: "Edit" }).click();
    await dialog().getByLabel("Name").fill("The shop");
    await dialog().getByLabel("New secret").fill("s3cret-next");
    await dialog()
      .getByLabel(/^Keep the secret that is set, too/)
      .check();
    expect(await save()).to.equal(200);
    expect(await verify()).to.include({ secrets: 2 });
    expect(await page.content()).not.to.include("s3cret");
  });

  it("of an app begin with its consent and come back, and are connected again when they are broken", async () => {
    await connect().click();
    await dialog().getByLabel("Kind").selectOption({ label: "Demo & Co" });
    await dialog().getByLabel("Name").fill("Demo of Ada");
    await inDialog("Continue").click();
    const agree = () => page.getByRole("button", { name: "Continue to Demo & Co" }).click();
    await agree();
    await page.getByRole("heading", { name: "Connected" }).waitFor();
    await page.getByRole("link", { name: "To the dashboard" }).click();
    await row("Demo of Ada").getByText("Working").waitFor();
    await Connections(system.web.mongo).updateOne(
      { name: "Demo of Ada" },
      {
        $set: {
          health: "broken",
          fault: { code: "invalid_grant", message: "revoked by its owner", at_ms: 1 },
        },
      },
    );
    await page.reload();
    await row("Demo of Ada").getByText("Broken").waitFor();
    await row("Demo of Ada").getByText("revoked by its owner").waitFor();
    expect(await seriousFindings(page)).to.deep.equal([]);
    await keepScreenshot(page, "connections");
    await row("Demo of Ada").getByRole("button", { name: "Reconnect" }).click();
    await agree();
    await page.getByRole("heading", { name: "Reconnected" }).waitFor();
    await page.getByRole("link", { name: "To the dashboard" }).click();
    await row("Demo of Ada").getByText("Working").waitFor();
    expect(await stored()).to.have.length(3);
  });

  it("of an organization come back to the organization", async () => {
    const org = await system.organization(api.userId);
    await tab.open(`/connections?org=${org}`);
    await connect().click();
    await dialog().getByLabel("Kind").selectOption({ label: "Demo & Co" });
    await inDialog("Continue").click();
    await page.getByRole("button", { name: "Continue to Demo & Co" }).click();
    await page.getByRole("link", { name: "To the dashboard" }).click();
    await row("demo").getByText("Working").waitFor();
    expect(new URL(page.url()).searchParams.get("org")).to.equal(org);
  });

  it("that sources use are deleted after a second question only, which names them", async () => {
    const weather = (await stored()).find(one => one.app === "weather");
    await api.createSource({
      component_code: CODE,
      name: "forecast",
      configured_props: { weather: { authProvisionId: weather?.id } },
    });
    await tab.open("/connections");
    await row("Weather of Ada").getByRole("button", { name: "Delete" }).click();
    const path = new RegExp(`/connections/${weather?.id}`);
    expect(await statusOf(path, () => inDialog("Delete").click())).to.equal(409);
    await dialog().getByText("forecast", { exact: false }).waitFor();
    expect(await seriousFindings(page)).to.deep.equal([]);
    await inDialog("Cancel").click();
    await row("Weather of Ada").waitFor();
    await row("Weather of Ada").getByRole("button", { name: "Delete" }).click();
    await inDialog("Delete").click();
    const force = new RegExp(`/connections/${weather?.id}\\?force=true`);
    expect(await statusOf(force, () => inDialog("Delete all the same").click())).to.equal(204);
    await row("Weather of Ada").waitFor({ state: "detached" });
    await row("The shop").getByRole("button", { name: "Delete" }).click();
    await dialog().getByText("stay valid at the app", { exact: false }).waitFor();
    await inDialog("Delete").click();
    await row("The shop").waitFor({ state: "detached" });
    await until(async () => (await stored()).length === 1);
  });

  it("meets no error of the browser on the way", () => {
    const notes = tab.problems.filter(one => !/status of 4(00|09)/.test(one));
    expect(notes).to.deep.equal([]);
  });
});
