// runs-long: npm test has test/dashboard/story.test.ts, a whole walk in a browser

import { expect } from "chai";
import { ApiKeys } from "../../src/models/user.ts";
import { misfits } from "./fits.ts";
import { keepScreenshot, seriousFindings } from "./signed-in.ts";
import { openDashboard, type Visit } from "./visit.ts";

describe("the API keys in the dashboard", () => {
  let opened: Visit;
  before(async function () {
    opened = await openDashboard(this, {
      prepare: async ({ api }) => {
        for (const name of ["shop", "till"]) await api.expect(201, "POST", "/workflows", { body: { name } });
      },
    });
  });
  after(() => opened?.close());

  it("are made to publish to chosen emitters until they expire, and are marked once they have", async () => {
    const { page, show, api, system } = opened;
    const [till, shop] = await api.expect(200, "GET", "/workflows");
    await show("/keys");
    await page.getByRole("button", { name: "New key" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("cash desk");
    await dialog.getByLabel("It may").selectOption("Publish events");
    await dialog.locator('datalist option[value="shop"]').waitFor({ state: "attached" });
    await dialog.getByLabel("To a source or workflow").fill("shop");
    await dialog.getByRole("button", { name: "Add another" }).click();
    await dialog.getByLabel("Or to").fill(till.id);
    await dialog.getByLabel("It expires").selectOption("In 30 days");
    expect(await seriousFindings(page), "the dialog").to.deep.equal([]);
    await keepScreenshot(page, "new-key", false);
    await dialog.getByRole("button", { name: "Create key" }).click();
    await dialog.getByRole("button", { name: "I have kept it" }).click();
    const row = page.getByRole("row").filter({ hasText: "cash desk" });
    await row.getByText("to shop, till").waitFor();
    await row.getByText(/^in (29|30) ?d/).waitFor();
    const [key] = await api.expect(200, "GET", "/api_keys");
    expect(key).to.deep.include({ access: "publish", emitter_ids: [shop.id, till.id] });

    await ApiKeys(system.worker.mongo).updateOne({ _id: key.id }, { $set: { expires_at: 1_700_000_000 } });
    await show("/workflows");
    await show("/keys");
    await row.getByText("Expired", { exact: true }).waitFor();
    expect(await row.getByRole("button", { name: "Revoke" }).count()).to.equal(0);
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 844 });
      expect(await misfits(page), `${width}`).to.deep.equal([]);
      expect(await seriousFindings(page), `${width}`).to.deep.equal([]);
      await keepScreenshot(page, `keys-${width}`);
    }
  });

  it("are made as an address for an agent's host, too, which reads", async () => {
    const { page, show, api } = opened;
    await show("/keys");
    await page.getByRole("button", { name: "New key" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("It is").selectOption("connector_url");
    const choices = await dialog.getByLabel("It may").locator("option").allTextContents();
    expect(choices).to.deep.equal(["Everything that you can", "Read"]);
    await dialog.getByRole("button", { name: "Create address" }).click();
    await dialog.getByText(/\/mcp\/c\/hwc_/).waitFor();
    expect(await seriousFindings(page), "the dialog").to.deep.equal([]);
    await dialog.getByRole("button", { name: "I have kept it" }).click();
    await page.getByText("Connector URL", { exact: true }).waitFor();
    const [key] = await api.expect(200, "GET", "/api_keys");
    expect(key).to.include({ kind: "connector_url", access: "read" });
  });
});
