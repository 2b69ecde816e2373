// runs-long: npm test has test/dashboard/story.test.ts, a whole walk in a browser

import { expect } from "chai";
import type { Browser } from "playwright-core";
import { type OwnStores, openOwnStores } from "../support/own-stores.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";
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
    // Each of the two lists has one.
    await page.getByRole("button", { name: "Try again" }).first().waitFor();
    await keepScreenshot(page, "store-away");
    await stores.mongo.start();
    await banner.waitFor({ state: "detached", timeout: 60_000 });
    // What failed is loaded again without a click.
    await page.getByText("No webhooks yet").waitFor();
    expect(page.url()).to.match(/\/dashboard\/webhooks$/);
    await tab.close();
  });

  it("says so on a page that nobody touches, which goes on as the store is back", async () => {
    const api = await system.user();
    const code = "export default { name: 'Idle', version: '0.0.1', props: { http: '$.interface.http' } };";
    const source = await api.createSource({ component_code: code, name: "idle" });
    const tab = await openTab(browser, system);
    const { page } = tab;
    await signIn(tab, api, `/sources/${source.id}`);
    await settled(page);
    const live = page.getByText("Live", { exact: true });
    await live.waitFor();
    await stores.redis.kill();
    const banner = page.getByText("Headwater or one of its stores is away.");
    await banner.waitFor();
    await stores.redis.start();
    await banner.waitFor({ state: "detached" });
    await live.waitFor();
    const body = { events: [{ event: { n: "after it" } }] };
    await until(async () => {
      const { status } = await api.request("POST", `/sources/${source.id}/events`, { body });
      return status === 202;
    });
    await page.getByRole("list", { name: "Events" }).getByText("after it").first().waitFor();
    await tab.close();
  });

  it("says so on an idle page that has no stream", async () => {
    const tab = await openTab(browser, system);
    const { page } = tab;
    await signIn(tab, await system.user(), "/keys");
    await settled(page);
    await stores.mongo.kill();
    const banner = page.getByText("Headwater or one of its stores is away.");
    await banner.waitFor();
    await stores.mongo.start();
    await banner.waitFor({ state: "detached" });
    await tab.close();
  });
});
