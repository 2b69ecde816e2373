// runs-long: npm test has test/dashboard/prop-form.test.ts and test/components/configure.test.ts

import { expect } from "chai";
import type { Page } from "playwright-core";
import type { SourceView } from "../support/api.ts";
import { until } from "../support/until.ts";
import { openSettings, type SettingsPage } from "./settings-page.ts";
import { seriousFindings, settled } from "./signed-in.ts";

const CODE = `
const CITIES = { CH: ["Bern", "Zug", "Chur"], AT: ["Wien"] };
export default { name: "Choices", version: "0.0.1",
  props: {
    timer: { type: "$.interface.timer", default: { intervalSeconds: 86400 } },
    token: { type: "string", label: "Token", secret: true },
    country: { type: "string", label: "Country", options: ["CH", "AT"] },
    city: { type: "string", label: "City", async options({ page }) {
      if (this.token !== "right") throw new Error("401 from the atlas");
      return CITIES[this.country].slice(page * 2, page * 2 + 2);
    } },
    tags: { type: "string[]", label: "Tags", optional: true, options: () => [{ label: "Red", value: "r" }, { label: "Green", value: "g" }] },
    found: { type: "string", label: "Found", optional: true, useQuery: true, options: ({ query }) => ["<" + query + ">"] },
    mode: { type: "string", label: "Mode", reloadProps: true, options: ["plain", "sized", "broken"], default: "plain" },
  },
  additionalProps() {
    if (this.mode === "broken") throw new Error("no such sheet");
    return this.mode === "sized"
      ? { note: { type: "alert", alertType: "info", content: "Sizes are in metres" }, size: { type: "integer", label: "Size" },
          unit: { type: "string", label: "Unit", options: () => ["m", "km"] } }
      : {};
  },
  run(event) { this.$emit({ mode: this.mode, size: this.size }); } };`;

describe("a form whose choices and fields come from the code", () => {
  let opened: SettingsPage;
  let page: Page;

  before(async function () {
    opened = await openSettings(this, CODE, { token: "wrong", country: "CH", city: "Zug", mode: "plain" });
    page = opened.page;
  });
  after(() => opened?.close());

  const stored = () => opened.stored();
  const save = () => opened.save();
  const press = (name: string) => page.getByRole("button", { name, exact: true }).click();
  const city = () => page.getByRole("group", { name: "City" });

  it("says why choices can't be loaded, and takes a typed value instead", async () => {
    await press("Load choices: City");
    await page.getByText("The choices can't be loaded: 401 from the atlas").waitFor();
    expect(await seriousFindings(page)).to.deep.equal([]);
    await page.getByLabel("City", { exact: true }).fill("Elsewhere");
    await save();
    expect((await stored()).configured_props.city).to.equal("Elsewhere");
  });

  it("loads choices with the values so far, page by page", async () => {
    await page.getByLabel("Token").fill("right");
    await press("Try again: City");
    await city().getByLabel("Bern").waitFor();
    expect(await city().getByLabel("Chur").count()).to.equal(0);
    await press("More: City");
    await city().getByLabel("Chur").check();
    expect(await seriousFindings(page)).to.deep.equal([]);
    await press("More: City");
    await until(async () => (await page.getByRole("button", { name: "More: City" }).count()) === 0);
    await save();
    expect((await stored()).configured_props.city).to.equal("Chur");
  });

  it("loads choices again when a value changes on which they depend", async () => {
    await page.getByLabel("Country").selectOption({ label: "AT" });
    await city().getByLabel("Wien").check();
    expect(await city().getByLabel("Bern").count()).to.equal(0);
    await save();
    expect((await stored()).configured_props).to.include({ country: "AT", city: "Wien" });
  });

  it("has boxes for several choices, and a search that the code answers", async () => {
    await press("Load choices: Tags (optional)");
    await page.getByLabel("Green").check();
    await press("Load choices: Found (optional)");
    await page.getByLabel("Search Found (optional)").fill("needle");
    await page.getByLabel("<needle>").check();
    await save();
    expect((await stored()).configured_props).to.deep.include({ tags: ["g"], found: "<needle>" });
  });

  it("asks for what a value leads to, with the alert of the code, and saves it", async () => {
    expect(await page.getByLabel("Size").count()).to.equal(0);
    await page.getByLabel("Mode").selectOption({ label: "sized" });
    await page.getByText("Sizes are in metres").waitFor();
    await page.getByLabel("Size").fill("7");
    await press("Load choices: Unit");
    await page.getByLabel("km").check();
    await save();
    const shown = await stored();
    expect(shown.configured_props).to.include({ mode: "sized", size: 7, unit: "km" });
    expect(shown.dynamic_props_id).to.match(/^dyp_/);
    expect(await seriousFindings(page)).to.deep.equal([]);
  });

  it("says why further fields can't be loaded, and loads them again", async () => {
    await page.getByLabel("Mode").selectOption({ label: "broken" });
    await page.getByText("The further fields can't be loaded: no such sheet").waitFor();
    await page.getByLabel("Mode").selectOption({ label: "sized" });
    await until(async () => (await page.getByText("The further fields can't be loaded").count()) === 0);
  });

  it("runs the source from its page", async () => {
    await page.getByRole("button", { name: "Run now" }).click();
    await page.getByText("Started; the run appears in the list of runs.").waitFor();
    await until(async () => {
      const runs: { trigger: string }[] = await opened.api.expect(
        200,
        "GET",
        `/sources/${opened.source.id}/runs`,
      );
      return runs.some(run => run.trigger === "manual");
    });
  });

  it("does the same for code that is not deployed yet", async () => {
    await opened.tab.open("/sources/new");
    await settled(page);
    await page.getByLabel("Code of the component").click();
    await page.keyboard.press("ControlOrMeta+A");
    await page.keyboard.insertText(CODE);
    await page.getByLabel("Token").first().fill("right");
    await page.getByLabel("Country").selectOption({ label: "CH" });
    await press("Load choices: City");
    await city().getByLabel("Zug").check();
    await page.getByLabel("Mode").selectOption({ label: "sized" });
    await page.getByLabel("Size").fill("3");
    await press("Load choices: Unit");
    await page.getByLabel("km").check();
    await page.getByRole("button", { name: "Deploy" }).click();
    await page.getByText("Deployed.").waitFor();
    const sources: SourceView[] = await opened.api.expect(200, "GET", "/users/me/sources");
    const made = sources.find(({ id }) => id !== opened.source.id);
    expect(made?.configured_props).to.include({ city: "Zug", mode: "sized", size: 3, unit: "km" });
  });

  it("meets no error of the browser on the way", () => {
    expect(opened.tab.problems).to.deep.equal([]);
  });
});
