import { expect } from "chai";
import { Headwater } from "../../clients/typescript/src/index.ts";
import { verify } from "../../clients/typescript/src/webhooks/index.ts";
import { until } from "../support/until.ts";
import { bodies, type Kitchen, received, startKitchen } from "./recipes.ts";

describe("the cookbook's deliveries:", () => {
  let kitchen: Kitchen;
  before(async () => {
    kitchen = await startKitchen({ TIMEOUTS: "alert:1ms" });
  });
  after(() => kitchen?.stop());

  /** Publishes as a workflow that a recipe made. */
  async function publish(name: string, event: object) {
    const { data } = await kitchen.client.workflows.list({ q: name });
    const workflow = data.find(one => one.name === name) ?? expect.fail(`no workflow ${name}`);
    await kitchen.client.publish(workflow.id, { event });
  }
  const hasDelivery = (state: "pending" | "failed") =>
    until(async () => {
      const { data } = await kitchen.client.deliveries.list({ state });
      return data.some(one => one.attempts_made > 0);
    });

  it("one file for each customer", async () => {
    const customer = await kitchen.receiver();
    const recipe = await kitchen.open("cookbook/one-file-for-each-customer");
    const { id: orgId } = JSON.parse(await recipe.shell());
    await recipe.shell({ ORG: orgId, CUSTOMER_URL: customer.url });
    const organization = new Headwater({
      url: process.env.HEADWATER_URL ?? "",
      apiKey: process.env.HEADWATER_API_KEY ?? "",
      orgId,
    });
    const { data } = await organization.webhooks.list();
    expect(data.map(({ name }) => name)).to.deep.equal(["shop/customer"]);
    const { signing_key } = await organization.webhooks.rotateSigningKey(data[0]?.id ?? "");
    await recipe.shell();
    const [{ raw, headers } = expect.fail()] = await received(customer);
    const { payload } = await verify(raw, headers, signing_key);
    expect(payload).to.deep.equal({ type: "invoice.paid", total: 17 });
  });

  it("filter and change", async () => {
    const [warehouse, accounting] = [await kitchen.receiver(), await kitchen.receiver()];
    const recipe = await kitchen.open("cookbook/filter-and-change");
    await recipe.shell({ WAREHOUSE_URL: warehouse.url, ACCOUNTING_URL: accounting.url });
    const shown = await recipe.shell();
    expect(shown).to.include('{"id":7,"address":"1 Long Road","goods":["engine"]}');
    await publish("shop/orders", { id: 8, state: "open", total: 5000 });
    const customer = { name: "Bob", country: "FR", address: "2 Short Road" };
    const items = [{ sku: "manual", is_digital: true }];
    await publish("shop/orders", { id: 9, state: "paid", total: 5, customer, items });
    const today = new Date().toISOString().slice(0, 10);
    expect(await bodies(accounting, 2)).to.have.deep.members([
      { booked_on: today, text: "Order 7 of Ada", total: 1290 },
      { booked_on: today, text: "Order 9 of Bob", total: 5 },
    ]);
    expect(await bodies(warehouse)).to.deep.equal([{ id: 7, address: "1 Long Road", goods: ["engine"] }]);
  });

  it("after an outage", async () => {
    const inbox = await kitchen.receiver();
    const recipe = await kitchen.open("cookbook/after-an-outage");
    await recipe.shell({ INBOX_URL: inbox.url });
    const { data } = await kitchen.client.webhooks.list({ q: "sales/inbox" });
    const [webhook = expect.fail()] = data;
    inbox.script(503);
    await publish("sales/orders", { n: 1 });
    await hasDelivery("pending");
    inbox.script(200);
    const [counted = "", replay = ""] = (await recipe.shell()).split(/(?<=^\})\n/m);
    expect(JSON.parse(counted)).to.include({ state: "counted", count: 1 });
    expect(JSON.parse(replay)).to.include({ count: 1 });
    const [first, again] = await received(inbox, 2);
    expect(again).to.deep.include({ raw: '{"n":1}' });
    expect(again?.headers["webhook-id"]).to.equal(first?.headers["webhook-id"]);

    inbox.script(410);
    await publish("sales/orders", { n: 2 });
    await until(async () => !(await kitchen.client.webhooks.get(webhook.id)).active);
    await hasDelivery("failed");
    inbox.script(200);
    expect(await recipe.shell()).to.match(/\b1\b/);
    expect((await bodies(inbox, 4)).slice(2)).to.deep.equal([{ n: 2 }, { n: 2 }]);
  });

  it("hear of a failing webhook", async () => {
    const [slack, broken] = [await kitchen.receiver(), await kitchen.receiver()];
    const recipe = await kitchen.open("cookbook/hear-of-a-failing-webhook");
    await recipe.shell({ SLACK_WEBHOOK: slack.url });
    broken.script(500);
    const workflow = await kitchen.client.workflows.create({ name: "watched" });
    const webhook = await kitchen.client.webhooks.create({ url: broken.url, name: "broken" });
    await kitchen.client.subscriptions.create({ emitter_id: workflow.id, listener_id: webhook.id });
    await publish("watched", { n: 1 });
    // What an earlier recipe did is told of too.
    const texts = () => slack.requests.map(({ raw }): string => JSON.parse(raw).text);
    const text = await until(() => texts().find(one => one.includes('"broken"')));
    expect(text).to.match(/^webhook\.failing: every attempt to deliver to webhook "broken"/);
    expect(await recipe.shell()).to.include("webhook.failing");
    await kitchen.client.webhooks.delete(webhook.id);
  });

  it("dead letters", async () => {
    const [erp, letters] = [await kitchen.receiver(), await kitchen.receiver()];
    const recipe = await kitchen.open("cookbook/dead-letters");
    await recipe.shell({ ERP_URL: erp.url, DEAD_LETTERS_URL: letters.url });
    erp.script(422);
    await publish("billing/invoices", { n: 1 });
    // What an earlier recipe did is told of too.
    const told = () => letters.requests.map(({ raw }): Record<string, string> => JSON.parse(raw).details);
    const details = await until(() => told().find(({ cause }) => cause === "status:422"));
    const failed = (await received(erp)).length;
    expect(await recipe.shell({ ISSUE: details.issue_id ?? "" }))
      .to.include("status:422")
      .and.to.include(details.delivery_id);
    erp.script(200);
    await recipe.shell();
    expect((await bodies(erp, failed + 1)).at(-1)).to.deep.equal({ n: 1 });
    expect((await kitchen.client.issues.get(details.issue_id ?? "")).state).to.equal("resolved");
  });
});
