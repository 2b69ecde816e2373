import { expect } from "chai";
import type { Browser } from "playwright-core";
import { type OwnStores, openOwnStores } from "../support/own-stores.ts";
import { type System, startSystem } from "../support/system.ts";
import { browserOrSkip, keepScreenshot, openTab, settled, signIn } from "./signed-in.ts";

describe("the dashboard while a store is away", () => {
  let browser: Browser;
  let stores: OwnStores;
  let system: System;

  before(async function () {
    browser = await browserOrSkip(this);
    stores = await openOwnStores();
    system = await startSystem({ MONGODB_URL: stores.mongo.url, REDIS_URL: stores.redis.url });
  });
  after(async () => {
    await browser?.close();
    await system?.stop();
    await stores?.close();
  });

  it("says so, and continues by itself", async () => {
    const api = await system.user();
    const tab = await openTab(browser, system);
    const { page } = tab;
    await signIn(tab, api);
    await settled(page);
    await stores.mongo.kill();
    await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Webhooks" }).click();
    const banner = page.getByText("Headwater or one of its stores is away.");
    await banner.waitFor({ timeout: 60_000 });
    await page.getByRole("button", { name: "Try again" }).waitFor();
    await keepScreenshot(page, "store-away");
    await stores.mongo.start();
    await banner.waitFor({ state: "detached", timeout: 60_000 });
    // What failed is loaded again without a click.
    await page.getByText("No webhooks yet").waitFor();
    expect(page.url()).to.match(/\/dashboard\/webhooks$/);
    await tab.close();
  });
});
