import { expect } from "chai";
import { Webhook } from "standardwebhooks";
import type { Api, Summary } from "../support/api.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { bodyOf, type SmtpReceiver, startSmtpReceiver } from "../support/smtp-receiver.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";

type User = Api & { userId: string };

/** docs/alerts.md */
describe("an alert", () => {
  let system: System;
  let smtp: SmtpReceiver;
  let failing: Receiver;
  let listening: Receiver;
  let user: User;
  let email = "";
  let flow = "";

  before(async () => {
    smtp = await startSmtpReceiver({ isPlain: true });
    system = await startSystem({
      SMTP_URL: `smtp://127.0.0.1:${smtp.port}?from=alerts@example.com`,
      TIMEOUTS: "alert:1ms",
      // No delivery fails for good: that has an alert of its own.
      DELIVERY_RETRY_SCHEDULE: "100ms,200ms,300ms,1h",
    });
  });
  after(async () => {
    await system.stop();
    await smtp.close();
  });
  beforeEach(async () => {
    [failing, listening] = [await startReceiver(503), await startReceiver()];
    user = await system.user();
    email = (await user.expect(200, "GET", "/users/me")).email;
    await user.expect(200, "PUT", "/users/me/alert_settings", { body: { mail: "each" } });
    flow = (await user.expect(201, "POST", "/workflows", { body: { name: "Flow" } })).id;
  });
  afterEach(async () => {
    await failing.close();
    await listening.close();
  });

  const publish = () => user.expect(202, "POST", `/workflows/${flow}/events`, { body: { event: { n: 1 } } });
  const alerts = async (api: Api = user): Promise<Summary[]> =>
    await api.expect(200, "GET", "/users/me/$alerts/event_summaries");
  const types = async () => (await alerts()).map(({ event }) => event.type).reverse();
  const received = () => listening.requests.map(({ raw }) => JSON.parse(raw));

  it("about a failing webhook reaches another webhook, signed, its owner's mailbox, and no stranger", async () => {
    const [broken, other] = [await user.createWebhook(failing.url), await user.createWebhook(listening.url)];
    await user.subscribe(flow, broken.id);
    await user.subscribe(user.userId, other.id, "$alerts");
    await publish();
    const [request] = await until(() => listening.requests.length > 0 && listening.requests);
    const alert = new Webhook(other.signing_key).verify(
      request?.raw ?? "",
      request?.headers as Record<string, string>,
    ) as Record<string, unknown>;
    expect(alert).to.deep.include({
      type: "webhook.failing",
      account_id: user.userId,
      subject: { id: broken.id, name: null },
    });
    expect(request?.headers["x-headwater-emitter-id"]).to.equal(user.userId);
    const [listed] = await alerts();
    expect(listed?.event).to.deep.equal(alert);
    expect(listed?.metadata).to.include({ emitter_id: user.userId, name: "$alerts", emit_id: alert.id });
    const mail = await until(() => smtp.mails.find(({ to }) => to.includes(email)), { what: "the mail" });
    expect(bodyOf(mail)).to.contain(broken.id);

    const stranger = await system.user();
    expect(await alerts(stranger)).to.be.empty;
    const path = `/events/${listed?.id}`;
    const query = { emitter_id: user.userId };
    expect((await stranger.request("GET", path, { query })).status).to.equal(404);
    expect((await user.request("GET", path, { query })).body.data.deliveries).to.have.length(1);
    const foreign = {
      emitter_id: user.userId,
      listener_id: (await stranger.createWebhook(listening.url)).id,
    };
    const subscribed = await stranger.request("POST", "/subscriptions", {
      query: { ...foreign, event_name: "$alerts" },
    });
    expect(subscribed.status).to.equal(404);
  });

  it("comes when the webhook works again, and once more in the next episode", async () => {
    const [broken, other] = [await user.createWebhook(failing.url), await user.createWebhook(listening.url)];
    await user.subscribe(flow, broken.id);
    await user.subscribe(user.userId, other.id, "$alerts");
    await publish();
    await until(() => listening.requests.length === 1, { what: "the first alert" });
    failing.script(200);
    await publish();
    await until(() => listening.requests.length === 2, { what: "the recovery" });
    failing.script(503);
    await publish();
    await until(() => listening.requests.length === 3, { what: "the second episode" });
    const told = ["webhook.failing", "webhook.recovered", "webhook.failing"];
    expect(received().map(({ type }) => type)).to.deep.equal(told);
    expect(await types()).to.deep.equal(told);
  });

  it("is not sent to the webhook that it is about, which would fail with it again and again", async () => {
    const loop = await user.createWebhook(failing.url);
    const other = await user.createWebhook(listening.url);
    await user.subscribe(flow, loop.id);
    await user.subscribe(user.userId, loop.id, "$alerts");
    await user.subscribe(user.userId, other.id, "$alerts");
    await publish();
    await until(() => listening.requests.length === 1, { what: "the alert" });
    failing.script(410);
    await publish();
    await until(() => listening.requests.length === 2, { what: "that it was disabled" });
    expect(received().map(({ type }) => type)).to.deep.equal(["webhook.failing", "webhook.disabled"]);
    expect(failing.requests.map(({ raw }) => raw)).to.satisfy((bodies: string[]) =>
      bodies.every(raw => raw === '{"n":1}'),
    );
    const [{ id }] = (await alerts()) as [Summary];
    const trace = await user.expect(200, "GET", `/events/${id}`, { query: { emitter_id: user.userId } });
    const own = trace.subscriptions.find(
      ({ listener_id }: { listener_id: string }) => listener_id === loop.id,
    );
    expect(own).to.include({
      outcome: "filtered",
      reason: "an alert is not sent to the listener that it is about",
    });
  });

  it("is selected by a filter, streamed, and of an organization for its members", async () => {
    const org = await system.organization(user.userId);
    const query = { org_id: org };
    const [broken, other] = [
      await user.createWebhook(failing.url, query),
      await user.createWebhook(listening.url, query),
    ];
    const flowOfOrg = (await user.expect(201, "POST", "/workflows", { query, body: { name: "Flow" } })).id;
    await user.subscribe(flowOfOrg, broken.id);
    await user.expect(200, "POST", "/subscriptions", {
      query: { emitter_id: org, listener_id: other.id, event_name: "$alerts" },
      body: { filter: { type: "webhook.disabled" } },
    });
    const live = await fetch(`${user.baseUrl}/live?emitters=${org}`, {
      headers: { authorization: `Bearer ${user.apiKey}` },
    });
    const body = { event: { n: 1 } };
    await user.expect(202, "POST", `/workflows/${flowOfOrg}/events`, { body });
    const listed = async () =>
      (await user.expect<Summary[]>(200, "GET", `/orgs/${org}/$alerts/event_summaries`)).map(
        ({ event }) => event.type,
      );
    await until(async () => (await listed()).length === 1, { what: "the first alert" });
    failing.script(410);
    await user.expect(202, "POST", `/workflows/${flowOfOrg}/events`, { body });
    await until(() => listening.requests.length === 1, { what: "the alert that matches" });
    expect(received()[0]).to.include({ type: "webhook.disabled", account_id: org });
    expect(await listed()).to.deep.equal(["webhook.disabled", "webhook.failing"]);
    expect(await alerts()).to.be.empty;
    let streamed = "";
    for await (const chunk of live.body as unknown as AsyncIterable<Uint8Array>) {
      streamed += Buffer.from(chunk).toString("utf8");
      if (streamed.includes("webhook.disabled")) break;
    }
    expect(streamed).to.contain("event: emit").and.to.contain("webhook.failing");
    const stranger = await system.user();
    expect((await stranger.request("GET", `/orgs/${org}/$alerts/event_summaries`)).status).to.equal(404);
    expect((await stranger.request("GET", "/live", { query: { emitters: org } })).status).to.equal(404);
  });

  it("about a source comes after three runs that failed, and again when one succeeds", async () => {
    const code = `export default { name: "Fragile", version: "0.0.1", props: { http: "$.interface.http" },
      run(event) { if (event.body.bad) throw new Error("bad"); this.$emit(1); } };`;
    const source = await user.createSource({ component_code: code });
    const url = source.configured_props.http?.endpoint_url ?? "";
    const call = async (bad: boolean) => {
      await fetch(url, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ bad }),
      });
    };
    for (let n = 0; n < 3; n++) await call(true);
    await until(async () => (await types()).length === 1, { what: "the alert" });
    await until(async () => {
      await call(false);
      return (await types()).length === 2;
    });
    expect(await types()).to.deep.equal(["source.failing", "source.recovered"]);
    expect((await alerts())[0]?.event.subject).to.deep.equal({ id: source.id, name: source.name });
  });

  it("is emitted by nothing else: an account is not an emitter to publish as, nor to subscribe to otherwise", async () => {
    const webhook = await user.createWebhook(listening.url);
    const body = { event: 1 };
    for (const path of [`/workflows/${user.userId}/events`, `/sources/${user.userId}/events`]) {
      expect((await user.request("POST", path, { body })).status).to.equal(404);
    }
    const named = { body: { event: 1, name: "$alerts" } };
    expect((await user.request("POST", `/workflows/${flow}/events`, named)).status).to.equal(400);
    const subscribe = async (emitter_id: string, event_name: string) => {
      const query = { emitter_id, event_name, listener_id: webhook.id };
      const { status, body: problem } = await user.request("POST", "/subscriptions", { query });
      return `${status} ${problem.errors?.[0]?.path}`;
    };
    expect(await subscribe(user.userId, "")).to.equal("400 event_name");
    expect(await subscribe(user.userId, "$errors")).to.equal("400 event_name");
    for (const emitter of [flow, "dc_*", "p_*"])
      expect(await subscribe(emitter, "$alerts")).to.equal("400 emitter_id");
    expect(await subscribe("o_0000000000000000", "$alerts")).to.match(/^404/);
  });
});
