// runs-long: npm test has test/dashboard/story.test.ts, a whole walk in a browser

import { expect } from "chai";
import type { SourceView } from "../support/api.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";
import { keepScreenshot, seriousFindings, settled } from "./signed-in.ts";
import { openDashboard, type Visit } from "./visit.ts";

const CODE = "export default { name: 'Till', version: '0.0.1', props: { http: '$.interface.http' } };";

describe("what waits, in the dashboard", () => {
  let opened: Visit;
  let receiver: Receiver;
  let source: SourceView;
  let webhook: string;
  let subscription: string;

  before(async function () {
    opened = await openDashboard(this, { env: { DELIVERY_RETRY_SCHEDULE: "1h" } });
    receiver = await startReceiver(503);
    const { api } = opened;
    source = await api.createSource({ component_code: CODE, name: "till" });
    webhook = (await api.createWebhook(receiver.url, { name: "printer" })).id;
    subscription = (await api.subscribe(source.id, webhook)).id;
    const events = [{ event: { n: 1 } }, { event: { n: 2 } }];
    await api.expect(202, "POST", `/sources/${source.id}/events`, { body: { events } });
    await until(async () => (await api.expect(200, "GET", "/queues")).totals.retries === 2);
  });
  after(async () => {
    await receiver?.close();
    await opened?.close();
  });

  const asked = () => opened.page.getByRole("dialog");

  it("is a line a listener, since when, with its deliveries", async () => {
    const { page, show } = opened;
    await show("/queues");
    const row = page.getByRole("row").filter({ hasText: "printer" });
    await row.getByText(/since/).waitFor();
    expect(await seriousFindings(page), "the queues").to.deep.equal([]);
    await keepScreenshot(page, "queues");
    await row.getByRole("link", { name: "Deliveries" }).click();
    await settled(page);
    await until(async () => (await page.locator("main tbody tr").count()) === 2);
  });

  it("is counted before its subscription, its webhook or its source is deleted", async () => {
    const { page, show, api } = opened;
    await show(`/webhooks/${webhook}/subscriptions`);
    await page.getByRole("button", { name: "Delete subscription" }).click();
    await asked().getByText("2 deliveries that wait are cancelled").waitFor();
    await asked().getByRole("button", { name: "Cancel" }).click();
    await show(`/sources/${source.id}/settings`);
    await page.getByRole("button", { name: "Delete source" }).click();
    await asked().getByText("1 subscription by which others receive its events").waitFor();
    await asked().getByText("2 kept events, errors and log lines").waitFor();
    await asked().getByRole("button", { name: "Cancel" }).click();
    await show(`/webhooks/${webhook}/settings`);
    await page.getByRole("button", { name: "Delete webhook" }).click();
    await asked().getByText("2 deliveries that wait are cancelled").waitFor();
    await asked().getByText("1 subscription", { exact: true }).waitFor();
    expect(await seriousFindings(page), "the question").to.deep.equal([]);
    await keepScreenshot(page, "delete-webhook");
    await asked().getByRole("button", { name: "Delete" }).click();
    await page.getByText("printer is deleted.").waitFor();
    expect((await api.request("GET", `/subscriptions/${subscription}`)).status).to.equal(404);
    await show("/queues");
    await page.getByText("Nothing waits").waitFor();
  });

  it("meets no error of the browser on the way", () => {
    expect(opened.tab.problems).to.deep.equal([]);
  });
});
