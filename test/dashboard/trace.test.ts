// runs-long: npm test has test/dashboard/story.test.ts and test/dashboard/moves.test.ts, which show traces of few subscriptions
import { expect } from "chai";
import type { Browser } from "playwright-core";
import type { Api } from "../support/api.ts";
import { startReceiver } from "../support/receiver.ts";
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

const CODE = "export default { name: 'Many', version: '0.0.1', props: { http: '$.interface.http' } };";
const MATCHED = 30;
const FILTERED = 20;

describe("the trace of an event with many subscriptions", () => {
  let browser: Browser;
  let system: System;
  let api: Api;
  let tab: Tab;

  before(async function () {
    browser = await browserOrSkip(this);
    system = await startSystem({ DELIVERY_RETRY_SCHEDULE: "1s" });
    api = await system.user({ plan: "paid" });
    tab = await openTab(browser, system);
  });
  after(async () => {
    await tab?.close();
    await browser?.close();
    await system?.stop();
  });

  it("is a line for each, the failed one first with its reason, and one for all that did not match", async () => {
    const [good, bad] = [
      await startReceiver(200),
      await startReceiver({ status: 503, body: "out of paper" }),
    ];
    const source = await api.createSource({ component_code: CODE, name: "many" });
    const subscribe = async (name: string, url: string, filter?: object) => {
      const { id } = await api.createWebhook(url, { name });
      const query = { emitter_id: source.id, listener_id: id };
      await api.expect(200, "POST", "/subscriptions", { query, ...(filter && { body: { filter } }) });
    };
    for (let n = 0; n < MATCHED; n++) await subscribe(`good ${n}`, good.url);
    await subscribe("printer", bad.url);
    for (let n = 0; n < FILTERED; n++) await subscribe(`other ${n}`, good.url, { total: { $gt: 10 } });
    await api.expect(202, "POST", `/sources/${source.id}/events`, { body: { event: { total: 1 } } });
    const event = await until(async () => (await api.summaries(source.id))[0]?.id);
    await until(
      async () =>
        (await api.expect<unknown[]>(200, "GET", "/deliveries", { query: { state: "failed" } })).length === 1,
    );
    await signIn(tab, api, `/events/${source.id}/${event}`);
    const { page } = tab;
    await settled(page);
    const lines = page.locator("li.step summary");
    await until(async () => (await lines.count()) === MATCHED + 2);
    const first = await lines.first().innerText();
    for (const text of ["printer", "Failed", "503 out of paper"]) expect(first).to.include(text);
    expect(await lines.last().innerText()).to.include(`${FILTERED} subscriptions did not match`);
    const { height } = await page.locator(".way").evaluate(element => {
      const { height } = (
        element as unknown as { getBoundingClientRect(): { height: number } }
      ).getBoundingClientRect();
      return { height };
    });
    expect(height).to.be.below(60 * (MATCHED + 6));
    expect(await seriousFindings(page)).to.deep.equal([]);
    await keepScreenshot(page, "trace-of-many");
    await lines.first().click();
    await page.getByText("Attempt 2").waitFor();
    await page.getByRole("button", { name: "Replay to this" }).click();
    await until(() => bad.requests.length === 3);
    await Promise.all([good.close(), bad.close()]);
  });

  it("meets no error of the browser on the way", () => {
    expect(tab.problems).to.deep.equal([]);
  });
});
