import { expect } from "chai";
import { Webhook } from "standardwebhooks";
import { Headwater } from "../../clients/typescript/src/index.ts";
import { keepEnvironment } from "../support/environment.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";
import { type CodeFolder, codeFolder, codeOf } from "./page-code.ts";

const page = (name: string) => `docs/coming-from/${name}.md`;

interface Moved {
  orgId: string;
  emitterId: string;
}

describe("the code of the pages on coming from other products", () => {
  let system: System;
  let receiver: Receiver;
  let folder: CodeFolder;
  let client: Headwater;
  const restoreEnvironment = keepEnvironment();

  before(async () => {
    [system, receiver, folder] = await Promise.all([
      startSystem({ SANDBOX_EGRESS_ALLOW: "127.0.0.1" }),
      startReceiver(),
      codeFolder(),
    ]);
    const { apiKey } = await system.user({ plan: "paid" });
    const url = new URL(system.baseUrl).origin;
    Object.assign(process.env, { PUBLIC_URL: url, HEADWATER_API_KEY: apiKey });
    client = new Headwater({ url, apiKey });
  });
  after(async () => {
    restoreEnvironment();
    await system?.stop();
    await receiver?.close();
    await folder?.delete();
  });

  /** Deploys a component that reads a list from the receiver's address. */
  const deploy = (name: string, file: string) =>
    client.sources.create({
      name,
      component_code: codeOf(page(name), file),
      configured_props: { url: receiver.url },
    });
  const respondWith = (list: object[]) =>
    receiver.script({
      status: 200,
      headers: { "content-type": "application/json" },
      body: JSON.stringify(list),
    });
  /** Runs a source by hand; returns its events, the latest first, once it has as many as expected. */
  async function eventsAfterRun(id: string, count: number): Promise<unknown[]> {
    const { run_id } = await client.sources.run(id);
    const outcome = await until(async () => (await client.sources.getRun(run_id)).outcome);
    expect(outcome).to.equal("ok");
    return until(async () => {
      const { data } = await client.sources.events(id, { expand: "event" });
      return data.length >= count && data.map(({ event }) => event.raw_event);
    });
  }

  it("polls, remembers, and lets each release through once, as a component for Pipedream does", async () => {
    const { id } = await deploy("pipedream", "new-releases.mjs");
    const first = { id: 1, name: "1.0", published_at: "2026-11-01T00:00:00Z" };
    const second = { id: 2, name: "1.1", published_at: "2026-11-02T00:00:00Z" };
    respondWith([first]);
    expect(await eventsAfterRun(id, 1)).to.deep.equal([first]);
    respondWith([first, second]);
    expect(await eventsAfterRun(id, 2)).to.deep.equal([second, first]);
  });

  it("moves an application of Svix: its receivers verify with the key that they have", async () => {
    const secret = `whsec_${Buffer.from("a key of thirty-two bytes, exact").toString("base64")}`;
    const { moveApplication } = await folder.load<{ moveApplication(from: object): Promise<Moved> }>(
      page("svix-and-convoy"),
      "move-application.ts",
    );
    const url = `${receiver.url}/svix`;
    const { orgId, emitterId } = await moveApplication({
      name: "Acme",
      endpoints: [{ url, secret, filterTypes: ["invoice.paid"], rateLimit: 50 }],
    });
    receiver.script(200);
    const customer = new Headwater({
      url: process.env.PUBLIC_URL ?? "",
      apiKey: process.env.HEADWATER_API_KEY ?? "",
      orgId,
    });
    await customer.publish(emitterId, { event: { type: "user.added" } });
    await customer.publish(emitterId, { event: { type: "invoice.paid", total: 17 } });
    const { raw, headers } = await until(() => receiver.requests.find(({ path }) => path.endsWith("/svix")));
    const verified = new Webhook(secret).verify(raw, headers as Record<string, string>);
    expect(verified).to.deep.equal({ type: "invoice.paid", total: 17 });
  });

  it("reports what is new since the last run, as the script of cron did", async () => {
    const { id, configured_props } = await deploy("cron-and-bullmq", "report.mjs");
    expect(configured_props.timer).to.deep.include({ cron: "0 6 * * 1-5", timezone: "Europe/Berlin" });
    respondWith([
      { id: 1, total: 17 },
      { id: 2, total: 18 },
    ]);
    expect(await eventsAfterRun(id, 1)).to.deep.equal([{ orders: 2, total: 35 }]);
    expect(await eventsAfterRun(id, 1)).to.have.lengthOf(1);
  });

  it("publishes instead of enqueueing a job, once for each order", async () => {
    const { notify } = await folder.load<{ notify(id: string, order: object): Promise<void> }>(
      page("cron-and-bullmq"),
      "notify.ts",
    );
    const workflow = await client.workflows.create({ name: "shop" });
    await notify(workflow.id, { id: 7, total: 17 });
    await notify(workflow.id, { id: 7, total: 17 });
    await notify(workflow.id, { id: 8, total: 18 });
    const events = await until(async () => {
      const { data } = await client.workflows.events(workflow.id, { expand: "event" });
      return data.length >= 2 ? data : undefined;
    });
    expect(events.map(({ event }) => event.raw_event)).to.deep.equal([
      { id: 8, total: 18 },
      { id: 7, total: 17 },
    ]);
  });
});
