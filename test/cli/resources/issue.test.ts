// runs-long: npm test has test/deliveries/issues and test/cli/walk.test.ts
import { expect } from "chai";
import type { Api } from "../../support/api.ts";
import { type Receiver, startReceiver } from "../../support/receiver.ts";
import { type System, startSystem } from "../../support/system.ts";
import { until } from "../../support/until.ts";
import { commandsWith } from "../command.ts";

describe("headwater issue and headwater attention", () => {
  let system: System;
  let receiver: Receiver;
  let api: Api;
  let env: Record<string, string>;
  before(async () => {
    system = await startSystem({ DELIVERY_RETRY_SCHEDULE: "100ms" });
    receiver = await startReceiver(503);
    api = await system.user();
    env = { HEADWATER_URL: system.baseUrl, HEADWATER_API_KEY: api.apiKey };
  });
  after(async () => {
    await receiver.close();
    await system.stop();
  });

  const { printed, json } = commandsWith(() => env);

  it("show why deliveries fail, and retry all of one cause", async () => {
    expect(await printed("attention")).to.equal("Nothing needs you.\n");
    expect(await printed("queues")).to.equal("Nothing waits.\n");
    const { id: flow } = await api.expect(201, "POST", "/workflows", { body: { name: "Flow" } });
    const { id: webhook } = await api.createWebhook(receiver.url, { name: "orders" });
    await api.subscribe(flow, webhook);
    await api.expect(202, "POST", `/workflows/${flow}/events`, { body: { events: [{ event: 1 }] } });
    const issues = () => json("issue", "list", "--state", "open", "--listener", "orders");
    const [{ id }] = await until(async () => {
      const found = await issues();
      return found[0]?.failed_deliveries === 1 && found;
    });
    expect(await printed("issue", "list")).to.match(
      new RegExp(`^${id} +open +status:503 +orders +2 +1 +20\\S+Z$`, "m"),
    );
    expect(await printed("issue", "show", id)).to.match(/^error +HTTP status 503$/m);
    expect(await printed("attention")).to.match(
      /^failing +orders +20\S+Z +status:503 \(2\)\nissue \S+ +orders +20\S+Z +status:503 \(2\): HTTP status 503$/m,
    );
    expect(await printed("issue", "acknowledge", id)).to.equal(`${id} is acknowledged.\n`);
    expect(await issues()).to.deep.equal([]);
    expect(await json("delivery", "list", "--issue", id)).to.have.length(1);
    receiver.script(200);
    expect(await printed("issue", "retry", id)).to.equal("One delivery is retried.\n");
    await until(async () => (await json("delivery", "list", "--issue", id))[0].state === "delivered");
    expect(await printed("issue", "resolve", id)).to.equal(`${id} is resolved.\n`);
  });
});
