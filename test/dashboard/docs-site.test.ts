// runs-long: npm test has test/ops/docs-site.test.ts, which walks all pages and links without a browser

import { expect } from "chai";
import type { Browser } from "playwright-core";
import { type System, startSystem } from "../support/system.ts";
import { misfits } from "./fits.ts";
import { browserOrSkip, keepScreenshot, openTab, seriousFindings } from "./signed-in.ts";

/** With text, tables, code, a picture, and many headings. */
const PAGES = [
  "/docs",
  "/docs/concepts",
  "/docs/coming-from/svix-and-convoy",
  "/docs/guides/webhooks-for-customers",
  "/docs/overview",
  "/docs/component-api",
  "/docs/decisions",
  "/docs/errors",
];

describe("the documentation in a browser", () => {
  let browser: Browser;
  let system: System;

  before(async function () {
    browser = await browserOrSkip(this);
    system = await startSystem({}, { workers: false });
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
    it(`has no error and no serious finding of axe, and fits the screen, at ${width} px, ${colours}`, async () => {
      const { page, problems, close } = await openTab(browser, system, { width, colours });
      for (const path of PAGES) {
        await page.goto(new URL(path, system.baseUrl).href);
        await page.getByRole("heading", { level: 1 }).waitFor();
        expect(await seriousFindings(page), path).to.deep.equal([]);
        expect(await misfits(page), path).to.deep.equal([]);
        await keepScreenshot(page, `site-${path.split("/").at(-1)}-${width}-${colours}`);
      }
      expect(problems).to.deep.equal([]);
      await close();
    });

    it(`finds a word, and goes to its heading, by keyboard at ${width} px, ${colours}`, async () => {
      const { page, problems, close } = await openTab(browser, system, { width, colours });
      await page.goto(new URL("/docs/start", system.baseUrl).href);
      await page.getByRole("button", { name: "Search" }).waitFor();
      await page.keyboard.press("/");
      await page.getByRole("searchbox").fill("retry sched");
      await page
        .getByRole("link", { name: /retry schedule/i })
        .first()
        .waitFor();
      expect(await seriousFindings(page)).to.deep.equal([]);
      await keepScreenshot(page, `site-search-${width}-${colours}`);
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      await page.waitForURL(url => url.pathname !== "/docs/start");
      expect(problems).to.deep.equal([]);
      await close();
    });
  }

  it("keeps the colours that were chosen, and shares them with the dashboard", async () => {
    const { page, close } = await openTab(browser, system, { colours: "light" });
    const shown = () => page.evaluate("getComputedStyle(document.documentElement).backgroundColor");
    await page.goto(new URL("/docs/start", system.baseUrl).href);
    await page.getByRole("button", { name: "Dark" }).click();
    await page.getByRole("link", { name: "Glossary" }).first().click();
    await page.getByRole("button", { name: "Light" }).waitFor();
    expect(await shown()).to.equal("rgb(10, 15, 20)");
    await page.goto(new URL("/dashboard", system.baseUrl).href);
    await page.getByLabel("API key").waitFor();
    expect(await shown()).to.equal("rgb(10, 15, 20)");
    await close();
  });

  it("opens its navigation over the text on a narrow screen", async () => {
    const { page, close } = await openTab(browser, system, { width: 390 });
    await page.goto(new URL("/docs/start", system.baseUrl).href);
    await page.getByRole("button", { name: "Menu" }).click();
    const navigation = page.getByRole("navigation", { name: "Pages" });
    await navigation.waitFor();
    await keepScreenshot(page, "site-menu-390");
    await navigation.getByRole("link", { name: "Filters" }).click();
    await page.getByRole("heading", { level: 1, name: "Filters" }).waitFor();
    await close();
  });

  it("leads the addresses that the API reference had to where it is now", async () => {
    const { page, close } = await openTab(browser, system);
    await page.goto(new URL("/docs#tag--Components", system.baseUrl).href);
    await page.waitForURL(url => url.pathname === "/docs/api" && url.hash === "#tag--Components");
    await close();
  });
});
