// runs-long: npm test has test/dashboard/story.test.ts, which follows the stream of one tab
import { expect } from "chai";
import type { Browser, Page, Request } from "playwright-core";
import type { Api, SourceView } from "../support/api.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";
import { browserOrSkip, openTab, setHidden, settled, signIn, type Tab } from "./signed-in.ts";

const CODE = "export default { name: 'Live', version: '0.0.1', props: { http: '$.interface.http' } };";

describe("the stream of several tabs", () => {
  let browser: Browser;
  let system: System;
  let api: Api;
  let source: SourceView;
  let tab: Tab;
  const open = new Set<Request>();

  before(async function () {
    browser = await browserOrSkip(this);
    system = await startSystem();
    api = await system.user({ plan: "paid" });
    source = await api.createSource({ component_code: CODE, name: "live" });
    tab = await openTab(browser, system);
    const isStream = (request: Request) => new URL(request.url()).pathname.endsWith("/live");
    tab.context.on("request", request => isStream(request) && open.add(request));
    for (const end of ["requestfinished", "requestfailed"] as const)
      tab.context.on(end as "requestfinished", request => void open.delete(request));
  });
  after(async () => {
    await tab?.close();
    await browser?.close();
    await system?.stop();
  });

  const publish = (n: string) =>
    api.expect(202, "POST", `/sources/${source.id}/events`, { body: { event: { n } } });
  const rows = (page: Page) => page.getByRole("list", { name: "Events" }).getByRole("listitem");
  const shows = async (page: Page, n: string) => await rows(page).filter({ hasText: n }).first().waitFor();
  const openPage = async () => {
    const page = await tab.context.newPage();
    await page.goto(tab.page.url());
    await settled(page);
    await page.getByText("Live", { exact: true }).waitFor();
    return page;
  };
  const oneStream = () => until(() => open.size === 1, { what: "one stream for all tabs" });

  it("is one, and brings news to each of them", async () => {
    await signIn(tab, api, `/sources/${source.id}`);
    await tab.page.getByText("Live", { exact: true }).waitFor();
    const pages = [await openPage(), await openPage()];
    await oneStream();
    await publish("for-all");
    for (const page of [tab.page, ...pages]) await shows(page, "for-all");
    expect(open.size).to.equal(1);
    for (const page of pages) await page.close();
  });

  it("is taken over by another tab when the one that had it is closed, or hidden", async () => {
    const [second, third] = [await openPage(), await openPage()];
    await setHidden(tab.page, true);
    await oneStream();
    await publish("after-hidden");
    await shows(second, "after-hidden");
    await second.close();
    await oneStream();
    await publish("after-closed");
    await shows(third, "after-closed");
    await setHidden(tab.page, false);
    await shows(tab.page, "after-closed");
    await third.close();
  });

  it("meets no error of the browser on the way", () => {
    expect(tab.problems).to.deep.equal([]);
  });
});
