// runs-long: npm test has test/http/openapi.test.ts, which reads the page without a browser

import { expect } from "chai";
import type { Browser } from "playwright-core";
import { type System, startSystem } from "../support/system.ts";
import { browserOrSkip, keepScreenshot, openTab } from "./signed-in.ts";

describe("the page of the API in a browser", () => {
  let browser: Browser;
  let system: System;

  before(async function () {
    browser = await browserOrSkip(this);
    system = await startSystem();
  });
  after(async () => {
    await browser?.close();
    await system?.stop();
  });

  for (const [width, colours] of [
    [1280, "light"],
    [1280, "dark"],
    [390, "light"],
    [390, "dark"],
  ] as const) {
    it(`has its navigation and the dashboard's colours at ${width} px, ${colours}`, async () => {
      const { page, problems, close } = await openTab(browser, system, { width, colours });
      await page.goto(new URL("/docs/api", system.baseUrl).href);
      const navigation = page.getByRole("navigation").first();
      if (width === 390) {
        await page.getByRole("button", { name: "Menu" }).click();
        await navigation.waitFor();
        await keepScreenshot(page, `docs-menu-${width}-${colours}`);
        await navigation.getByText("Signatures").first().click();
        await navigation.waitFor({ state: "hidden" });
      } else await navigation.waitFor();
      const background = await page.evaluate(() => {
        // biome-ignore lint/suspicious/noExplicitAny: the DOM has no types here
        const { document, getComputedStyle } = globalThis as any;
        return getComputedStyle(document.querySelector("openapi-explorer")).backgroundColor;
      });
      expect(background).to.equal(colours === "light" ? "rgb(244, 246, 248)" : "rgb(10, 15, 20)");
      await keepScreenshot(page, `docs-${width}-${colours}`);
      const isScrolled = "document.documentElement.scrollWidth > innerWidth";
      expect(await page.evaluate(isScrolled)).to.equal(false);
      await page.getByRole("link", { name: "Dashboard" }).click();
      await page.getByLabel("API key").waitFor();
      expect(problems).to.deep.equal([]);
      await close();
    });
  }
});
