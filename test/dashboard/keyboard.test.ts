import { expect } from "chai";
import type { Browser, Page } from "playwright-core";
import { type System, startSystem } from "../support/system.ts";
import { browserOrSkip, openTab, settled, signIn, type Tab } from "./signed-in.ts";

const CODE = "export default { name: 'Keys', version: '0.0.1', props: { http: '$.interface.http' } };";
const MOST_STOPS = 80;

/** What has the focus: its name, and whether the focus can be seen. */
interface Stop {
  name: string;
  isSeen: boolean;
}

/** Runs in the page; without types of the DOM, which Node does not have. */
const focused = (page: Page): Promise<Stop | null> =>
  page.evaluate(() => {
    // biome-ignore lint/suspicious/noExplicitAny: the DOM has no types here
    const { document, getComputedStyle } = globalThis as any;
    const element = document.activeElement;
    if (element === null || element === document.body) return null;
    const { outlineStyle, outlineWidth } = getComputedStyle(element);
    const name = element.getAttribute("aria-label") ?? element.textContent ?? "";
    return { name: name.trim().slice(0, 60), isSeen: outlineStyle !== "none" && outlineWidth !== "0px" };
  });

describe("the dashboard by keyboard", () => {
  let browser: Browser;
  let system: System;
  let tab: Tab;

  before(async function () {
    browser = await browserOrSkip(this);
    system = await startSystem();
    const api = await system.user();
    await api.createSource({ component_code: CODE, name: "keys" });
    tab = await openTab(browser, system);
    await signIn(tab, api);
  });
  after(async () => {
    await browser?.close();
    await system?.stop();
  });

  /** Presses Tab until the focus leaves the page. */
  async function walk(): Promise<Stop[]> {
    const stops: Stop[] = [];
    for (let i = 0; i < MOST_STOPS; i += 1) {
      await tab.page.keyboard.press("Tab");
      const stop = await focused(tab.page);
      if (stop === null) break;
      stops.push(stop);
    }
    return stops;
  }

  it("reaches everything that a pointer does, with a focus that is seen", async () => {
    for (const path of ["", "/sources", "/deliveries", "/keys"]) {
      await tab.open(path);
      await settled(tab.page);
      const stops = await walk();
      const links = await tab.page
        .locator("a:visible, button:visible, input:visible, select:visible")
        .count();
      expect(stops.length, path).to.be.greaterThanOrEqual(links);
      expect(
        stops.filter(stop => !stop.isSeen).map(stop => stop.name),
        path,
      ).to.deep.equal([]);
    }
  });

  it("skips the navigation, opens a source from its list, and switches it off", async () => {
    const { page } = tab;
    await tab.open("/sources");
    await settled(page);
    await page.keyboard.press("Tab");
    expect((await focused(page))?.name).to.equal("Skip to content");
    await page.keyboard.press("Enter");
    for (let name = ""; name !== "keys"; name = (await focused(page))?.name ?? "")
      await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "keys", level: 1 }).waitFor();
    await page.getByRole("button", { name: "Switch off" }).focus();
    await page.keyboard.press("Space");
    await page.getByText("The source is inactive.").waitFor();
    await page.getByRole("button", { name: "Switch on" }).waitFor();
  });
});
