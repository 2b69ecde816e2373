// runs-long: npm test has test/dashboard/story.test.ts, which runs code from the editor

import { expect } from "chai";
import type { Page } from "playwright-core";
import { until } from "../support/until.ts";
import { misfits } from "./fits.ts";
import { keepScreenshot, openTab, seriousFindings, settled, signIn } from "./signed-in.ts";
import { openDashboard, type Visit } from "./visit.ts";

/** With so many props the try-run began 1,600 px below the editor before there was a dock. */
const NINE = Array.from(
  { length: 9 },
  (_, n) => `p${n}: { type: "string", label: "Prop ${n}", optional: true }`,
);
const CODE = `export default { name: "Dock", version: "0.0.1",
  props: { http: "$.interface.http", greeting: { type: "string", label: "Greeting" }, ${NINE.join(", ")} },
  methods: { greet(name) { return this.greeting + " " + name; } },
  run(event) { this.$emit({ text: this.greet(event.body.name) }); } };`;

const BESIDE = ["Try it", "Result", "Configuration"];
/** A press of a key that comes within a frame of the one before. */
const FAST_MS = 4;

describe("the dock of the editor", () => {
  let visit: Visit;
  let page: Page;
  let source: string;

  before(async function () {
    visit = await openDashboard(this, {
      prepare: async ({ api }) => {
        const configured_props = { greeting: "Good day" };
        source = (await api.createSource({ component_code: CODE, name: "dock", configured_props })).id;
      },
    });
    page = visit.page;
  });
  after(() => visit?.close());

  const editor = () => page.getByRole("textbox", { name: "Code of the component" });
  const pane = (title: string, of = page) => of.getByRole("region", { name: title, exact: true });
  const replaceCode = async (text: string) => {
    await editor().click();
    await page.keyboard.press("Control+A");
    await page.keyboard.insertText(text);
  };
  const boxOf = async (title: string, of = page) => {
    const box = await pane(title, of).boundingBox();
    if (box === null) throw new Error(`${title} is not shown`);
    return box;
  };

  it("has editor, event, result and props in one window, side by side, however many props there are", async () => {
    await visit.tab.open("/sources/new");
    await editor().waitFor();
    await replaceCode(CODE);
    await page.getByLabel("Prop 8").waitFor();
    await page.evaluate("scrollTo(0, document.body.scrollHeight)");
    const boxes = await Promise.all(BESIDE.map(title => boxOf(title)));
    const code = await editor().boundingBox();
    const height = page.viewportSize()?.height ?? 0;
    expect(new Set(boxes.map(({ y }) => Math.round(y))).size, "panes begin at one height").to.equal(1);
    for (const { y, height: own } of boxes) expect(y + own).to.be.at.most(height);
    expect(code?.y, "the editor is in sight").to.be.at.least(0);
    expect(await seriousFindings(page)).to.deep.equal([]);
    expect(await misfits(page)).to.deep.equal([]);
    await keepScreenshot(page, "dock-new-1280-light");
  });

  it("runs with Ctrl Enter what was typed that moment, from the editor and from a field", async () => {
    await page.getByLabel("Greeting").fill("Good day");
    await page.getByLabel("Greeting").press("Control+Enter");
    await pane("Result").getByText('"Good day world"').waitFor();
    await replaceCode(CODE.replace("{ text:", "{ text: 'Hey ' +"));
    await page.keyboard.press("Control+Enter");
    await pane("Result").getByText('"Hey Good day world"').waitFor();
    expect(await editor().innerText(), "and it makes no new line").not.to.match(/\n\s*\n/);
    await page.getByRole("textbox", { name: "Event" }).fill('{ "body": { "name": "Ada" } }');
    await page.keyboard.press("Control+Enter");
    await pane("Result").getByText('"Hey Good day Ada"').waitFor();
    await page.getByRole("textbox", { name: "Event" }).fill("{ broken");
    await page.keyboard.press("Control+Enter");
    await pane("Result").locator(".notice.bad").waitFor();
    await keepScreenshot(page, "dock-run-1280-light");
  });

  it("keeps every key of a fast typist, completions and runs among them", async () => {
    await replaceCode(`${CODE.slice(0, CODE.indexOf("run(event)"))}run() {\n`);
    const line = 'this.$emit({ n: 1 }, { id: "a" }); this.db; return this.greeting';
    for (const key of line) await page.keyboard.press(key, { delay: FAST_MS });
    await page.keyboard.press("Enter");
    await page.keyboard.press("Control+Enter");
    for (const key of "done") await page.keyboard.press(key, { delay: FAST_MS });
    const lines = (await page.locator(".editor .cm-line").allTextContents()).map(text => text.trim());
    // Brackets and quotes close themselves, and are typed over.
    expect(lines).to.include.members([line, "done"]);
  });

  it("offers what a component has in a popup that the keyboard chooses from", async () => {
    await replaceCode(`${CODE.slice(0, CODE.indexOf("run(event)"))}run() { `);
    const labels = page.locator(".editor .cm-tooltip-autocomplete .cm-completionLabel");
    for (const key of "this.") await page.keyboard.press(key);
    await until(async () => (await labels.allInnerTexts()).includes("$emit"));
    expect(await labels.allInnerTexts()).to.include.members(["$emit", "http", "greeting", "greet"]);
    await keepScreenshot(page, "dock-completions-1280-light");
    for (const key of "ht") await page.keyboard.press(key);
    await until(async () => (await labels.count()) === 1);
    // Enter and Tab are the code's for a moment after the popup came.
    await until(async () => {
      await page.keyboard.press("Tab");
      return (await editor().innerText()).includes("this.http");
    });
    for (const key of ".re") await page.keyboard.press(key);
    await until(async () => (await labels.allInnerTexts()).includes("respond"));
    await page.keyboard.press("Escape");
    await until(async () => (await labels.count()) === 0);
  });

  it("shows the values of a deployed source beside a try of its code", async () => {
    await visit.tab.open(`/sources/${source}/code`);
    await editor().waitFor();
    await pane("Props").getByText("Good day").waitFor();
    await editor().click();
    await page.keyboard.press("Control+Enter");
    await pane("Result").getByText('"Good day world"').waitFor();
    expect(await seriousFindings(page)).to.deep.equal([]);
    await keepScreenshot(page, "dock-code-1280-light");
  });

  for (const [width, colours] of [
    [390, "light"],
    [390, "dark"],
    [1280, "dark"],
  ] as const) {
    it(`has its panes where they can be read at ${width} px, ${colours}`, async () => {
      const other = await openTab(visit.browser, visit.system, { width, colours });
      await signIn(other, visit.api, `/sources/${source}/code`);
      await settled(other.page);
      await pane("Props", other.page).getByText("Good day").waitFor();
      await other.page.getByRole("button", { name: "Run once" }).click();
      await pane("Result", other.page).getByText('"Good day world"').waitFor();
      const [tried, result] = [await boxOf("Try it", other.page), await boxOf("Result", other.page)];
      if (width < 600) expect(result.y, "under each other").to.be.at.least(tried.y + tried.height);
      else expect(result.y, "side by side").to.equal(tried.y);
      expect(await seriousFindings(other.page)).to.deep.equal([]);
      expect(await misfits(other.page)).to.deep.equal([]);
      await keepScreenshot(other.page, `dock-code-${width}-${colours}`);
      expect(other.problems).to.deep.equal([]);
      await other.close();
    });
  }

  it("meets no error of the browser on the way", () => {
    expect(visit.tab.problems).to.deep.equal([]);
  });
});
