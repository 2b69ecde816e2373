import { expect } from "chai";
import type { Page } from "playwright-core";
import { until } from "../support/until.ts";
import { openSettings, type SettingsPage } from "./settings-page.ts";
import { seriousFindings, settled } from "./signed-in.ts";

const CODE = `export default { name: "Form", version: "0.0.1",
  props: {
    note: { type: "alert", alertType: "warning", content: "Needs a paid plan <b>there</b>" },
    timer: { type: "$.interface.timer", static: { cron: "0 9 * * *", timezone: "Europe/Berlin" } },
    tags: { type: "string[]", label: "Tags", options: ["red", { label: "Green", value: "g" }, "blue"], optional: true },
    token: { type: "string", label: "Token", description: "Of your **settings**, see [the docs](https://example.com/docs), not [here](javascript:alert).", secret: true, optional: true },
  },
  run() {} };`;
const TIMED = `export default { name: "Timed", version: "0.0.1",
  props: { timer: { type: "$.interface.timer" } }, run() {} };`;

describe("the form of a source's props", () => {
  let opened: SettingsPage;
  let page: Page;

  before(async function () {
    opened = await openSettings(this, CODE, { token: "s3cret" });
    page = opened.page;
  });
  after(() => opened?.close());

  const stored = () => opened.stored();
  const save = () => opened.save();

  it("shows an alert of the component as text", async () => {
    await page.getByText("Needs a paid plan <b>there</b>").waitFor();
    expect(await seriousFindings(page)).to.deep.equal([]);
  });

  it("shows links and bold words of a description, and no link that is not one of the web", async () => {
    const link = page.locator(".hint").getByRole("link", { name: "the docs" });
    expect(await link.getAttribute("href")).to.equal("https://example.com/docs");
    expect(await page.locator(".hint strong").textContent()).to.equal("settings");
    await page.getByText("not [here](javascript:alert).", { exact: false }).waitFor();
  });

  it("shows the next five times of a timer that the code fixes, in its zone", async () => {
    const times = page.getByRole("list", { name: "Next five times" }).getByRole("listitem");
    await until(async () => (await times.count()) === 5);
    for (const text of await times.allTextContents()) expect(text).to.match(/9:00|09:00/);
    expect(await page.getByLabel("Cron expression, in Europe/Berlin").isDisabled()).to.equal(true);
  });

  it("shows options of a list as boxes to check", async () => {
    await page.getByLabel("Green").check();
    await page.getByLabel("red").check();
    await save();
    expect((await stored()).configured_props.tags).to.deep.equal(["red", "g"]);
    await page.getByLabel("red").uncheck();
    await save();
    await until(async () => JSON.stringify((await stored()).configured_props.tags) === '["g"]');
  });

  it("removes a secret that is set", async () => {
    expect((await stored()).secrets_set).to.deep.equal(["token"]);
    await page.getByLabel("Remove Token").check();
    await page.getByText("Removed when this is saved.").waitFor();
    await save();
    await until(async () => (await stored()).secrets_set.length === 0);
    await page.getByLabel("Remove Token").waitFor({ state: "detached" });
  });

  it("keeps a zone that the browser knows by another name", async () => {
    const { id } = await opened.api.createSource({
      component_code: TIMED,
      configured_props: { timer: { cron: "0 9 * * *", timezone: "US/Pacific" } },
    });
    await opened.tab.open(`/sources/${id}/settings`);
    await settled(page);
    await until(async () => (await page.getByLabel("Time zone").inputValue()) === "US/Pacific");
    const times = page.getByRole("list", { name: "Next five times" }).getByRole("listitem");
    await until(async () => (await times.count()) === 5);
  });

  it("meets no error of the browser on the way", () => {
    expect(opened.tab.problems).to.deep.equal([]);
  });
});
