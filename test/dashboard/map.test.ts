// runs-long: npm test has test/dashboard/story.test.ts, a whole walk in a browser

import { expect } from "chai";
import type { SourceView } from "../support/api.ts";
import { keepScreenshot, seriousFindings, settled } from "./signed-in.ts";
import { openDashboard, type Visit } from "./visit.ts";

const CODE = "export default { name: 'Till', version: '0.0.1', props: { http: '$.interface.http' } };";
/** More than are drawn one by one. */
const MANY = 20;

describe("the map of an account", () => {
  let opened: Visit;
  let source: SourceView;

  before(async function () {
    opened = await openDashboard(this);
    const { api } = opened;
    source = await api.createSource({ component_code: CODE, name: "till" });
    for (let n = 0; n < MANY; n += 1) {
      const { id } = await api.createWebhook("http://127.0.0.1:1/", { name: `printer ${n}` });
      await api.subscribe(source.id, id);
    }
    const { id: flow } = await api.expect(201, "POST", "/workflows", { body: { name: "ledger" } });
    await api.subscribe(source.id, flow);
  });
  after(async () => {
    await opened?.close();
  });

  it("folds what is many, opens it by keyboard, and goes on from thing to thing", async () => {
    const { page, show } = opened;
    await show("/map");
    await page.getByRole("link", { name: "till", exact: true }).click();
    await settled(page);
    const picture = page.locator("svg.map");
    await picture.locator("text", { hasText: "ledger" }).waitFor();
    await picture.locator("text", { hasText: `${MANY} webhooks` }).waitFor();
    expect(await seriousFindings(page), "the map").to.deep.equal([]);
    await keepScreenshot(page, "map");
    await picture.getByRole("link", { name: `Show ${MANY} webhooks` }).focus();
    await page.keyboard.press("Enter");
    await picture.getByRole("link", { name: /^printer 7 / }).click();
    await settled(page);
    await picture.getByRole("link", { name: /^till / }).waitFor();
    await page.getByRole("row").filter({ hasText: "till" }).waitFor();
    await page.goBack();
    await picture.locator("text", { hasText: "printer 7" }).waitFor();
  });

  it("is a table on a narrow screen", async () => {
    const { page, show } = opened;
    await page.setViewportSize({ width: 390, height: 844 });
    await show(`/map?node=${source.id}`);
    await page.getByRole("link", { name: "ledger" }).waitFor();
    expect(await page.locator("svg.map").isVisible()).to.equal(false);
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).to.equal(true);
    await page.setViewportSize({ width: 1280, height: 860 });
  });

  it("meets no error of the browser on the way", () => {
    expect(opened.tab.problems).to.deep.equal([]);
  });
});
