// runs-long: npm test has test/dashboard/story.test.ts, a whole walk in a browser, and test/attention
import { expect } from "chai";
import type { SourceView } from "../support/api.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";
import { keepScreenshot, seriousFindings, settled } from "./signed-in.ts";
import { openDashboard, type Visit } from "./visit.ts";

const CODE = "export default { name: 'Till', version: '0.0.1', props: { http: '$.interface.http' } };";

describe("what needs somebody, in the dashboard", () => {
  let opened: Visit;
  let api: Visit["api"];
  let tab: Visit["tab"];
  let source: SourceView;
  let printer: Receiver;

  before(async function () {
    opened = await openDashboard(this, { env: { DELIVERY_RETRY_SCHEDULE: "1s" } });
    ({ api, tab } = opened);
    printer = await startReceiver(200);
    source = await api.createSource({ component_code: CODE, name: "shop till" });
    const webhook = await api.createWebhook(printer.url, { name: "receipt printer" });
    await api.subscribe(source.id, webhook.id);
    await tab.open("");
    await settled(tab.page);
  });
  after(async () => {
    await printer?.close();
    await opened?.close();
  });

  const publish = (n: number) =>
    api.expect(202, "POST", `/sources/${source.id}/events`, { body: { event: { n } } });
  const line = () => tab.page.locator(".attention li").filter({ hasText: "receipt printer" });
  const badge = () => tab.page.getByTitle("What needs somebody now");

  it("is nothing while all is well", async () => {
    await tab.page.getByText("Nothing needs you now.").waitFor();
    expect(await badge().count()).to.equal(0);
  });

  it("is on the overview with its cause soon after a webhook stopped, without a reload", async () => {
    printer.script(() => ({ status: 503, body: "out of paper" }));
    await publish(1);
    await line().getByText("Status 503").waitFor();
    await line().getByText("Failing").waitFor();
    await until(async () => (await badge().innerText()) === "1");
    expect(await seriousFindings(tab.page), "the overview").to.deep.equal([]);
    await keepScreenshot(tab.page, "attention");
  });

  it("leads to the issue, which is acknowledged, and no longer counts", async () => {
    const { page } = tab;
    await until(async () => {
      const rows = await api.expect<unknown[]>(200, "GET", "/deliveries", { query: { state: "failed" } });
      return rows.length === 1;
    });
    await line().getByRole("link", { name: "Causes" }).click();
    const row = page.getByRole("row").filter({ hasText: "Status 503" });
    await row.getByText("Open").waitFor();
    expect(await seriousFindings(page), "the issues").to.deep.equal([]);
    await keepScreenshot(page, "issues");
    await row.getByRole("button", { name: "Acknowledge" }).click();
    await row.getByText("Acknowledged").waitFor();
  });

  it("is retried with one click and one question, once the cause is gone", async () => {
    const { page } = tab;
    printer.script(() => 200);
    const row = page.getByRole("row").filter({ hasText: "Status 503" });
    await row.getByRole("button", { name: "Retry all …" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Retry 1" }).click();
    await until(async () => {
      const rows = await api.expect<unknown[]>(200, "GET", "/deliveries", { query: { state: "delivered" } });
      return rows.length === 1;
    });
    await row.getByRole("button", { name: "Resolve" }).click();
    await row.getByText("Resolved").waitFor();
    await tab.go("");
    await settled(page);
    await page.getByText("Nothing needs you now.").waitFor();
  });

  it("is on the page of the webhook too, with the deliveries of each cause", async () => {
    const { page } = tab;
    printer.script(() => ({ status: 410, body: "moved away" }));
    await publish(2);
    await tab.page.locator(".attention li").filter({ hasText: "Disabled" }).waitFor();
    await line().getByRole("link", { name: "receipt printer" }).click();
    const cause = page.locator(".attention li").filter({ hasText: "Status 410" });
    await cause.getByRole("link", { name: "Deliveries" }).click();
    await page.getByRole("button", { name: "Of one issue" }).waitFor();
    await until(async () => (await page.locator("main tbody tr").count()) === 1);
  });

  it("meets no error of the browser on the way", () => {
    expect(tab.problems).to.deep.equal([]);
  });
});
