// runs-long: npm test has test/dashboard/story.test.ts, a whole walk in a browser

import { expect } from "chai";
import type { SourceView } from "../support/api.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";
import { settled } from "./signed-in.ts";
import { openDashboard, type Visit } from "./visit.ts";

const CODE = `export default { name: "Till", version: "0.0.1", key: "till", props: { http: "$.interface.http" },
  hooks: { async deploy() { this.$emit({ old: true }); } }, run({ body }) { this.$emit(body); } };`;

describe("what the API can, in the dashboard too", () => {
  let opened: Visit;
  let receiver: Receiver;
  let source: SourceView;
  let webhook: string;

  before(async function () {
    opened = await openDashboard(this);
    receiver = await startReceiver(200);
    source = await opened.api.createSource({ component_code: CODE, name: "till" });
    webhook = (await opened.api.createWebhook(receiver.url, { name: "printer" })).id;
    await opened.api.subscribe(source.id, webhook);
  });
  after(async () => {
    await receiver?.close();
    await opened?.close();
  });

  const asked = () => opened.page.getByRole("dialog");
  const button = (name: string) => opened.page.getByRole("button", { name, exact: true });

  it("sets custom headers of a webhook, and removes them", async () => {
    const { page, show, api } = opened;
    await show(`/webhooks/${webhook}/settings`);
    await page.getByLabel("Headers", { exact: true }).fill("X-Tenant: 17\nX-Colour: blue");
    await button("Save headers").click();
    await page
      .locator(".badge")
      .getByText(/^x-tenant$/i)
      .waitFor();
    await api.expect(202, "POST", `/sources/${source.id}/events`, { body: { event: { n: 1 } } });
    const { headers } = await until(() => receiver.requests.at(-1));
    expect(headers).to.include({ "x-tenant": "17", "x-colour": "blue" });
    await button("Remove all").click();
    await asked().getByRole("button", { name: "Remove" }).click();
    await page.getByLabel("Headers", { exact: true }).waitFor();
    expect((await api.expect(200, "GET", `/webhooks/${webhook}`)).header_names).to.deep.equal([]);
  });

  it("makes and deletes an auto subscription", async () => {
    const { page, show, api } = opened;
    await show("/subscriptions");
    await page
      .locator("section.card")
      .filter({ has: page.getByRole("heading", { name: "Auto subscriptions" }) })
      .getByRole("button", { name: "Add" })
      .click();
    await asked().getByLabel("To").fill(webhook);
    await page.keyboard.press("Tab");
    await asked().getByRole("button", { name: "Save" }).click();
    await button("Delete auto subscription").click();
    await asked().getByRole("button", { name: "Delete" }).click();
    await button("Delete auto subscription").waitFor({ state: "detached" });
    expect(await api.expect(200, "GET", "/users/me/auto_subscriptions")).to.deep.equal([]);
  });

  it("makes, renames and deletes a workflow", async () => {
    const { page, show } = opened;
    await show("/workflows");
    await button("New workflow").first().click();
    await asked().getByLabel("Name").fill("orders");
    await asked().getByRole("button", { name: "Save" }).click();
    const row = page.getByRole("row").filter({ hasText: "orders" });
    await row.getByRole("button", { name: "Rename" }).click();
    await asked().getByLabel("Name").fill("orders of shops");
    await asked().getByRole("button", { name: "Save" }).click();
    await button("Delete orders of shops").click();
    await asked().getByRole("button", { name: "Delete" }).click();
    await page.getByText("No workflows yet").waitFor();
  });

  it("deploys by a key, without what the deploy hook emits", async () => {
    const { page, show, api } = opened;
    await show("/components");
    await button("By key or address …").click();
    await asked().getByLabel("Key or address").fill("till");
    await asked().getByRole("button", { name: "Go on" }).click();
    await page.getByLabel("Name").fill("silent till");
    await page.getByLabel(/^Drop what its deploy hook emits/).check();
    await button("Deploy").click();
    await page.getByRole("heading", { name: "silent till" }).waitFor();
    const { id, dropped } = await api.expect(200, "GET", "/sources/silent-till");
    expect(dropped).to.deep.equal({ "deploy-muted": 1 });
    expect(await api.summaries(id)).to.deep.equal([]);
  });

  it("deletes a stored event, and lists past replays", async () => {
    const { page, show, api } = opened;
    await until(async () => (await api.summaries(source.id)).length === 2);
    await show(`/sources/${source.id}`);
    await page.locator(".event-line").first().click();
    await button("Delete event").click();
    await asked().getByText("1 event", { exact: true }).waitFor();
    await asked().getByRole("button", { name: "Delete" }).click();
    await until(async () => (await api.summaries(source.id)).length === 1);
    await until(async () => (await page.locator(".event-line").count()) === 1);
    const body = { webhook_id: webhook, state: "delivered" };
    await api.expect(202, "POST", "/replays", { body });
    await show("/deliveries");
    await page.getByRole("link", { name: "Past replays" }).click();
    await settled(page);
    await page.getByRole("link", { name: /state delivered/ }).waitFor();
  });

  it("meets no error of the browser on the way", () => {
    expect(opened.tab.problems).to.deep.equal([]);
  });
});
