import { expect } from "chai";
import type { Browser, Page } from "playwright-core";
import type { Api, SourceView } from "../support/api.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";
import { browserOrSkip, openTab, setHidden, signIn, type Tab } from "./signed-in.ts";

const CODE = `export default { name: "Moves", version: "0.0.1", props: { http: "$.interface.http" },
  run({ body }) { this.$emit(body); } };`;

describe("what moves by itself in the dashboard", () => {
  let browser: Browser;
  let system: System;
  let api: Api & { userId: string };
  let source: SourceView;
  let tab: Tab;
  let page: Page;

  before(async function () {
    browser = await browserOrSkip(this);
    system = await startSystem();
    api = await system.user();
    source = await api.createSource({ component_code: CODE, name: "moves" });
    tab = await openTab(browser, system);
    page = tab.page;
    await signIn(tab, api);
  });
  after(async () => {
    await browser?.close();
    await system?.stop();
  });

  const publish = (id: string, event: unknown) =>
    api.expect(202, "POST", `/sources/${id}/events`, { body: { events: [{ event }] } });
  const isLive = () => page.getByText("Live", { exact: true }).first().waitFor();

  it("shows on the page of the first event what was emitted while the tab was hidden", async () => {
    const echo = await api.createSource({ component_code: CODE, name: "echo" });
    await tab.open(`/start?source=${source.id}&echo=${echo.id}`);
    await isLive();
    await setHidden(page, true);
    await page.getByText("Connecting").first().waitFor();
    await publish(source.id, { n: "at the source" });
    await publish(echo.id, { n: "at the receiver" });
    for (const { id } of [source, echo]) await until(async () => (await api.summaries(id)).length === 1);
    await setHidden(page, false);
    const rows = (name: string) => page.getByRole("list", { name }).getByRole("listitem");
    await rows("2. The source emits").filter({ hasText: "at the source" }).waitFor();
    await rows("3. The receiver gets it").filter({ hasText: "at the receiver" }).waitFor();
    expect(await rows("2. The source emits").count()).to.equal(1);
  });

  it("meets no error of the browser on the way", () => {
    expect(tab.problems).to.deep.equal([]);
  });
});
