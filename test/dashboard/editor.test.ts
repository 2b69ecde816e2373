// runs-long: npm test has test/dashboard/story.test.ts, a whole walk in a browser

import { expect } from "chai";
import type { Page } from "playwright-core";
import type { Api, SourceView } from "../support/api.ts";
import { type NpmRegistry, startNpmRegistry } from "../support/npm-registry.ts";
import { until } from "../support/until.ts";
import { keepScreenshot, seriousFindings, type Tab } from "./signed-in.ts";
import { openDashboard, type Visit } from "./visit.ts";

const packaged = (version: string) => ({
  manifest: { name: "greetings", version, main: "index.js" },
  files: { "index.js": `module.exports = name => "Hello " + name + " ${version}";` },
});

const code = (greeting: string, first = "") => `${first}export default {
  name: "Edited",
  version: "0.0.1",
  props: { http: "$.interface.http" },
  run() {
    this.$emit({ text: ${greeting} });
  },
};
`;

describe("the editor of a source's code", () => {
  let registry: NpmRegistry;
  let visit: Visit;
  let api: Api;
  let source: SourceView;
  let tab: Tab;
  let page: Page;

  before(async function () {
    registry = await startNpmRegistry([packaged("1.2.0"), packaged("1.4.2")]);
    const { npm_config_registry = "", npm_config_cache = "" } = registry.environment;
    const { HOME = "", PATH = "" } = process.env;
    visit = await openDashboard(this, {
      env: { npm_config_registry, npm_config_cache, HOME, PATH, CACHE_DIR: registry.cacheDir },
      prepare: async made => {
        source = await made.api.createSource({ component_code: code('"first"'), name: "edited" });
      },
      path: () => `/sources/${source.id}/code`,
    });
    ({ api, tab, page } = visit);
  });
  after(async () => {
    await visit?.close();
    await registry?.close();
  });

  const editor = () => page.getByRole("textbox", { name: "Code of the component" });
  const write = async (text: string) => {
    await editor().click();
    await page.keyboard.press("Control+A");
    await page.keyboard.insertText(text);
  };
  /** Elements of the editor, which are in its shadow root. */
  const inEditor = (selector: string) => page.locator(".editor").locator(selector);
  const deploy = () => page.getByRole("button", { name: "Deploy", exact: true });
  const deployed = async () => {
    const { component_id } = await api.expect(200, "GET", `/sources/${source.id}`);
    return (await api.expect(200, "GET", `/components/${component_id}`)).code as string;
  };

  it("shows what differs from what is deployed, and deploys it", async () => {
    await editor().waitFor();
    expect(await deploy().isDisabled(), "nothing is changed").to.equal(true);
    await write(code('"second"'));
    await page.getByLabel("Show changes").check();
    await inEditor(".cm-deletedChunk").getByText('"first"').waitFor();
    await inEditor(".cm-changedLine").getByText('"second"').waitFor();
    expect(await inEditor(".cm-changedLine").count()).to.equal(1);
    await keepScreenshot(page, "editor-changes");
    expect(await seriousFindings(page)).to.deep.equal([]);
    // What is typed while the changes are shown is part of them.
    await write(code('"third"'));
    await inEditor(".cm-changedLine").getByText('"third"').waitFor();
    await page.getByLabel("Show changes").uncheck();
    await inEditor(".cm-deletedChunk").waitFor({ state: "detached" });
    await deploy().click();
    await page.getByText("Deployed.").waitFor();
    await until(async () => (await deployed()) === code('"third"'));
    await page.getByLabel("Show changes").check();
    await until(async () => (await inEditor(".cm-changedLine").count()) === 0);
    expect(await inEditor(".cm-deletedChunk").count()).to.equal(0);
    await page.getByLabel("Show changes").uncheck();
  });

  it("shows the versions of npm packages that it pins, and runs with them", async () => {
    await write(code('greet("world")', 'import greet from "greetings";\n'));
    await page.getByText("greetings@1.4.2").waitFor();
    await page.getByRole("button", { name: "Run once" }).click();
    await page.getByText('"Hello world 1.4.2"').waitFor();
    await write(code('greet("world")', 'import greet from "greetings@1.2.0";\n'));
    await page.getByText("greetings@1.2.0", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Run once" }).click();
    await page.getByText('"Hello world 1.2.0"').waitFor();
  });

  it("marks an error at its line: in the syntax, of a package, and of a run", async () => {
    const lines = code('"x"').split("\n");
    const broken = [...lines.slice(0, 5), "    this.$emit({ text: });", ...lines.slice(6)].join("\n");
    await write(broken);
    await page.getByText(/^Line 6: /).waitFor();
    const marked = inEditor(".cm-line:has(.cm-lintRange-error, .cm-lintPoint-error)");
    expect(await marked.textContent()).to.equal("    this.$emit({ text: });");
    await inEditor(".cm-lint-marker-error").waitFor();
    await keepScreenshot(page, "editor-error");
    expect(await deployed()).to.equal(code('"third"'));
    await deploy().click();
    await page.locator(".notice.bad").first().waitFor();
    expect(await deployed(), "it is not deployed").to.equal(code('"third"'));

    await write(code("none()", 'import none from "no-such-package";\n'));
    await page
      .getByText(/no-such-package/, { exact: false })
      .first()
      .waitFor();

    await write(code('(() => { throw new Error("no order"); })()', "// a comment\n"));
    await until(async () => (await page.getByText(/^Line /).count()) === 0);
    await page.getByRole("button", { name: "Run once" }).click();
    await page.getByText(/no order \(line 7\)/).waitFor();
    await marked.getByText("no order").waitFor();
    await inEditor(".cm-lint-marker-error").waitFor();
    // It is the fault of that code only.
    await write(code('"x"'));
    await inEditor(".cm-lint-marker-error").waitFor({ state: "detached" });
  });

  it("asks before changes are lost by a link, by going back, and by another template", async () => {
    const question = page.getByRole("dialog").filter({ hasText: "Leave without saving?" });
    const stay = async () => {
      await question.waitFor();
      await question.getByRole("button", { name: "Cancel" }).click();
      await question.waitFor({ state: "detached" });
      await until(async () => (await editor().innerText()).includes('"unsaved"'));
    };
    const tabs = page.getByRole("navigation", { name: "Source" });
    await tab.open("/sources");
    await page.getByRole("link", { name: "edited" }).first().click();
    await tabs.getByRole("link", { name: "Code" }).click();
    await editor().waitFor();
    await write(code('"unsaved"'));
    await tabs.getByRole("link", { name: "Events" }).click();
    await stay();
    await page.goBack();
    await stay();
    expect(new URL(page.url()).pathname).to.match(/\/code$/);
    await tabs.getByRole("link", { name: "Events" }).click();
    await question.getByRole("button", { name: "Leave" }).click();
    await editor().waitFor({ state: "detached" });
    expect(new URL(page.url()).pathname).not.to.match(/\/code$/);

    await tab.go("/sources/new");
    await editor().waitFor();
    await page.getByLabel("Template").selectOption("timer");
    await until(async () => (await editor().innerText()).includes("Heartbeat"));
    await write(code('"unsaved"'));
    await page.getByLabel("Template").selectOption("poll");
    await stay();
    expect(await page.getByLabel("Template").inputValue()).to.equal("timer");
    await page.getByRole("link", { name: "Webhooks" }).click();
    await stay();
    await page.getByLabel("Template").selectOption("poll");
    await question.getByRole("button", { name: "Leave" }).click();
    await until(async () => (await editor().innerText()).includes("New items"));
  });

  it("shows each file of a component, and keeps those that are not changed", async () => {
    const files = {
      "app/main.mjs": `import { word } from "../lib/word.mjs";\n${code("word")}`,
      "lib/word.mjs": 'export const word = "before";\n',
    };
    const several = await api.createSource({ files, entry: "app/main.mjs", name: "several" });
    await tab.open(`/sources/${several.id}/code`);
    await editor().waitFor();
    const file = page.getByLabel("File", { exact: true });
    expect(await file.inputValue()).to.equal("app/main.mjs");
    await file.selectOption("lib/word.mjs");
    await inEditor(".cm-line").getByText('"before"').waitFor();
    await write("export const word = {;\n");
    await page.getByText(/^lib\/word\.mjs, line 1: /).waitFor();
    await inEditor(".cm-lintRange-error, .cm-lintPoint-error").first().waitFor();
    await write('export const word = "after";\n');
    await page.getByRole("button", { name: "Run once" }).click();
    await page.getByText('"after"').last().waitFor();
    await file.selectOption("app/main.mjs");
    await write(`import { word } from "../lib/word.mjs";\n${code("word + 1")}`);
    expect(await seriousFindings(page)).to.deep.equal([]);
    await deploy().click();
    await page.getByText("Deployed.").waitFor();
    const { component_id } = await api.expect(200, "GET", `/sources/${several.id}`);
    expect(await api.expect(200, "GET", `/components/${component_id}/files`)).to.deep.equal({
      files: {
        "app/main.mjs": `import { word } from "../lib/word.mjs";\n${code("word + 1")}`,
        "lib/word.mjs": 'export const word = "after";\n',
      },
      entry: "app/main.mjs",
    });
    await tab.open(`/components/${component_id}`);
    await file.selectOption("lib/word.mjs");
    await inEditor(".cm-line").getByText('"after"').waitFor();
  });

  it("completes what a component has: this, its props, and the types of props", async () => {
    await tab.open(`/sources/${source.id}/code`);
    await editor().waitFor();
    const choices = inEditor(".cm-tooltip-autocomplete li");
    const typed = async (before: string, keys: string) => {
      await write(before);
      await page.keyboard.type(keys);
      await choices.first().waitFor();
      return await choices.locator(".cm-completionLabel").allInnerTexts();
    };
    const props = 'export default { props: { http: "$.interface.http", city: "string" }, run() { ';
    expect(await typed(props, "this.")).to.have.members(["$emit", "http", "city"]);
    await page.keyboard.press("Enter");
    await page.keyboard.press("Escape");
    expect(await typed('export default { props: { http: "', "$.int")).to.deep.equal([
      "$.interface.apphook",
      "$.interface.http",
      "$.interface.timer",
    ]);
  });

  it("meets no error of the browser on the way", () => {
    const notes = tab.problems.filter(one => !/status of 4\d\d/.test(one));
    expect(notes).to.deep.equal([]);
  });
});
