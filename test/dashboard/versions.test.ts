// runs-long: npm test has test/dashboard/story.test.ts, a whole walk in a browser

import { expect } from "chai";
import type { Browser, Page } from "playwright-core";
import type { Api, SourceView } from "../support/api.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";
import {
  browserOrSkip,
  keepScreenshot,
  openTab,
  seriousFindings,
  settled,
  signIn,
  type Tab,
} from "./signed-in.ts";

const code = (word: string) => `export default {
  name: "Orders",
  version: "${word}",
  props: { http: "$.interface.http" },
  run(event) {
    // A line that is longer than a telephone is wide, so that it must be broken: ${"wide ".repeat(12)}
    this.$emit({ word: "${word}", body: event.body });
  },
};
`;

describe("the versions of a source in the dashboard", () => {
  let browser: Browser;
  let system: System;
  let api: Api;
  let source: SourceView;
  let tab: Tab;
  let page: Page;

  before(async function () {
    browser = await browserOrSkip(this);
    system = await startSystem();
    api = await system.user();
    source = await api.createSource({ component_code: code("first"), name: "orders", comment: "as agreed" });
    for (const word of ["second", "third"]) {
      const body = { component_code: code(word), comment: `with ${word}` };
      await api.expect(200, "PUT", `/sources/${source.id}`, { body });
    }
    tab = await openTab(browser, system);
    page = tab.page;
    await signIn(tab, api, `/sources/${source.id}/versions`);
    await settled(page);
  });
  after(async () => {
    await browser?.close();
    await system?.stop();
  });

  const row = (number: number) =>
    page.locator("tbody tr").filter({ has: page.locator(".title", { hasText: String(number) }) });
  const lines = (kind: string) => page.locator(`.diff .${kind} .line`).allTextContents();
  const signs = (kind: string) => page.locator(`.diff .${kind} .sign [aria-hidden]`).allTextContents();

  it("are listed with who and when, and the newest shows what it changed, with signs", async () => {
    const { username } = await api.expect(200, "GET", "/users/me");
    expect(await row(3).innerText())
      .to.include("with third")
      .and.include("Current")
      .and.include(username);
    expect(await row(1).innerText()).to.include("as agreed");
    await page.getByRole("heading", { name: "From version 2 to 3" }).waitFor();
    await page.locator(".diff").waitFor();
    expect(await signs("removed")).to.deep.equal(["−", "−"]);
    expect(await signs("added")).to.deep.equal(["+", "+"]);
    expect((await lines("removed"))[0]).to.equal('  version: "second",');
    expect((await lines("added"))[0]).to.equal('  version: "third",');
    expect(await page.locator(".diff .added .visually-hidden").first().textContent()).to.equal("added");
    expect(await seriousFindings(page)).to.deep.equal([]);
    await keepScreenshot(page, "versions");
  });

  it("are compared with any other, by keyboard and by address", async () => {
    await page.getByLabel("Compare with").focus();
    await page.getByLabel("Compare with").selectOption("1");
    await page.getByRole("heading", { name: "From version 1 to 3" }).waitFor();
    await until(async () => (await lines("removed"))[0] === '  version: "first",');
    expect(new URL(page.url()).search).to.include("version=3").and.include("against=1");
    await page.getByRole("button", { name: "Changes of version 2" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "From version 1 to 2" }).waitFor();
    await page.getByRole("button", { name: "Changes of version 1" }).press("Enter");
    await page.getByText("There is no earlier version to compare it with.").waitFor();
  });

  it("are restored after a question that says what will happen, and the list and the code show it", async () => {
    await page.getByRole("button", { name: "Restore version 1" }).click();
    const question = page.getByRole("dialog", { name: "Restore version 1?" });
    await question.getByText("deployed now, as version 4").waitFor();
    await question.getByLabel("Comment (optional)").fill("third loses orders");
    await keepScreenshot(page, "versions-restore");
    expect(await seriousFindings(page)).to.deep.equal([]);
    await question.getByRole("button", { name: "Restore" }).click();
    await page.getByText("The source has the code of version 1 again.").waitFor();
    await page.getByRole("heading", { name: "From version 3 to 4" }).waitFor();
    expect(await row(4).innerText())
      .to.include("Version 1 restored")
      .and.include("third loses orders");
    const { component_id } = await api.expect(200, "GET", `/sources/${source.id}`);
    expect(component_id).to.equal(source.component_id);
    await page.getByRole("link", { name: "Code", exact: true }).click();
    await page.locator(".editor").getByText('version: "first"').waitFor();
  });

  it("say which prop does not fit, and change nothing", async () => {
    const strict = code("strict").replace(
      "props: {",
      'props: { city: { type: "string", options: ["Bern"] },',
    );
    const loose = code("loose").replace("props: {", 'props: { city: "string",');
    const put = (body: object) => api.expect(200, "PUT", `/sources/${source.id}`, { body });
    await put({ component_code: strict, configured_props: { city: "Bern" } });
    await put({ component_code: loose, configured_props: { city: "Rome" } });
    await tab.open(`/sources/${source.id}/versions`);
    await page.getByRole("button", { name: "Restore version 5" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Restore" }).click();
    await page
      .getByText(/configured_props\.city/)
      .first()
      .waitFor();
    expect((await api.expect(200, "GET", `/sources/${source.id}/versions`))[0].number).to.equal(6);
    await page.getByRole("button", { name: "Cancel" }).click();
  });

  it("fit a telephone, in the dark too", async () => {
    const small = await openTab(browser, system, { width: 390, colours: "dark" });
    await signIn(small, api, `/sources/${source.id}/versions`);
    await settled(small.page);
    await small.page.locator(".diff").waitFor();
    const { scroll, width } = await small.page.evaluate(() => {
      // biome-ignore lint/suspicious/noExplicitAny: the DOM has no types here
      const { document } = globalThis as any;
      const { scrollWidth: scroll, clientWidth: width } = document.documentElement;
      return { scroll, width };
    });
    expect(scroll).to.equal(width);
    expect(await seriousFindings(small.page)).to.deep.equal([]);
    await keepScreenshot(small.page, "versions-390");
    expect(small.problems).to.deep.equal([]);
    await small.close();
  });
});
