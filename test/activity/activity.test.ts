import { expect } from "chai";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { BrowserApi, signInWith } from "../accounts/sessions/browser.ts";
import type { Api } from "../support/api.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";
import { openSse } from "./sse.ts";

const CODE = `export default { name: "Maker", version: "0.0.1", props: { http: "$.interface.http" },
  run(event) { if (event.body.bad) throw new Error("on purpose"); this.$emit(event.body); } };`;

describe("the activity of an account", () => {
  let system: System;
  let receiver: Receiver;
  let api: Api & { userId: string };
  let source: string;
  let endpoint: string;
  let webhook: string;
  before(async () => {
    system = await startSystem();
    receiver = await startReceiver();
  });
  after(async () => {
    await receiver.close();
    await system.stop();
  });
  beforeEach(async () => {
    api = await system.user();
    const created = await api.createSource({ component_code: CODE });
    source = created.id;
    endpoint = created.configured_props.http?.endpoint_url ?? "";
    webhook = (await api.createWebhook(receiver.url)).id;
    await api.subscribe(source, webhook);
    receiver.script(200);
    receiver.requests.splice(0);
  });

  const send = (body: object) =>
    fetch(endpoint, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  const totalOf = async (path: string) => {
    await system.worker.activity.flush();
    return (await api.expect(200, "GET", path, { query: { hours: 2 } })).total;
  };

  it("is counted by the hour for its sources, its webhooks and itself", async () => {
    const picky = await api.createWebhook(receiver.url);
    const query = { emitter_id: source, listener_id: picky.id };
    await api.expect(200, "POST", "/subscriptions", { query, body: { filter: { n: 0 } } });
    receiver.script(500, 200);
    for (const body of [{ n: 1 }, { n: 2 }, { bad: true }]) await send(body);
    /** Waits for these counts, and shows the others if they don't come. */
    const total = (path: string, counts: object) =>
      until(async () => {
        const found = await totalOf(path);
        expect(found).to.include(counts);
        return found;
      });
    const ofWebhook = await total(`/webhooks/${webhook}/stats`, { attempts: 3, delivered: 2, retried: 1 });
    expect(ofWebhook).to.include({ failed: 0, emitted: 0 });
    expect(ofWebhook.p50_ms).to.be.greaterThan(0);
    expect(ofWebhook.p95_ms).to.be.at.least(ofWebhook.p50_ms);
    const ofSource = await total(`/sources/${source}/stats`, {
      runs: 3,
      run_errors: 1,
      emitted: 2,
      delivered: 2,
    });
    expect(ofSource.dropped).to.include({ filtered: 2 });
    const webhook_ids = `${picky.id},${webhook}`;
    const totals = await api.expect(200, "GET", "/webhook_stats", { query: { webhook_ids } });
    expect(totals).to.have.length(2);
    expect(totals[0]).to.include({ webhook_id: picky.id, attempts: 0, p95_ms: null });
    expect(totals[1]).to.include({
      webhook_id: webhook,
      attempts: 3,
      delivered: 2,
      p95_ms: ofWebhook.p95_ms,
    });
    await total("/stats", { emitted: 2, runs: 3, run_errors: 1, delivered: 2, retried: 1 });
    const { hours } = await api.expect(200, "GET", "/stats");
    expect(hours).to.have.length(24);
    expect(hours[0]).to.include({ runs: 0, p50_ms: null });
    for (const wrong of ["0", "721", "x"]) {
      expect((await api.request("GET", "/stats", { query: { hours: wrong } })).status).to.equal(400);
    }
  });

  it("is counted for up to 100 webhooks at once, and for nobody else's", async () => {
    const status = async (of: Api, ids: string[]) =>
      (await of.request("GET", "/webhook_stats", { query: { webhook_ids: ids.join() } })).status;
    expect(await status(api, [webhook])).to.equal(200);
    expect(await status(await system.user(), [webhook])).to.equal(404);
    expect(await status(api, [webhook, "wh_0000000000000000"])).to.equal(404);
    const many = Array.from({ length: 101 }, (_, i) => `wh_${String(i).padStart(16, "0")}`);
    const { status: tooMany, body } = await api.request("GET", "/webhook_stats", {
      query: { webhook_ids: many.join() },
    });
    expect(tooMany).to.equal(400);
    expect(body.errors[0]).to.include({ path: "webhook_ids", message: "must be at most 100 ids" });
  });

  it("has its usage per day", async () => {
    await send({ n: 1 });
    const days = async () => (await api.expect(200, "GET", "/users/me/daily_usage")).days;
    const [today] = await until(async () => {
      const found = await days();
      return found[0].invocations === 1 && found;
    });
    expect(today).to.include({ day: new Date().toISOString().slice(0, 10), published: 0 });
    expect(await days()).to.have.length(30);
  });

  it("is streamed: events, deliveries as they change, and runs", async () => {
    const stream = await openSse(api, `/live?emitters=${source}&deliveries=true&runs=true`);
    try {
      expect((await stream.next("ready")).data).to.deep.equal({ resumed: false });
      await send({ n: 0 });
      await stream.next("run");
      await until(() => receiver.requests.length === 1);
      receiver.script(500, 200);
      await send({ n: 1, late: true });
      const emit = await stream.next("emit", ({ event }) => event.raw_event.late);
      expect(emit.data.metadata.emitter_id).to.equal(source);
      const eventId = emit.data.id;
      const failed = await stream.next("delivery", one => one.event_id === eventId);
      expect(failed.data.webhook_id).to.equal(webhook);
      // Rows are sent a few times a second: the retry may have been made by then.
      const isRetried = failed.data.state === "delivered";
      if (!isRetried) {
        expect(failed.data).to.include({ state: "pending", attempts_made: 1 });
        expect(failed.data.last_attempt).to.include({ status: 500, response: "" });
      }
      const delivered = isRetried
        ? failed
        : await stream.next("delivery", one => one.event_id === eventId && one.state === "delivered");
      expect(delivered.data.id).to.equal(failed.data.id);
      const read = await api.expect(200, "GET", `/deliveries/${failed.data.id}`);
      // A stream reads no names.
      const { attempts, request, webhook_name, emitter_name, ...row } = read;
      expect({ ...delivered.data, last_attempt: null }).to.deep.equal({ ...row, last_attempt: null });
      const runs = await api.expect(200, "GET", `/sources/${source}/runs`);
      const shown = await stream.next("run", run => run.id === runs[0].id);
      const { source_name, ...run } = runs[0];
      expect(shown.data).to.deep.equal(run);

      const resumed = await openSse(api, `/live?emitters=${source}`, { "last-event-id": eventId });
      expect((await resumed.next("ready")).data).to.deep.equal({ resumed: true });
      await send({ n: 2 });
      await resumed.next("emit", ({ event }) => event.raw_event.n === 2);
      expect(resumed.has("delivery")).to.equal(false);
      resumed.close();
    } finally {
      stream.close();
    }
  });

  it("is streamed from `ready` on to one who comes while another's stream begins", async () => {
    const first = openSse(api, "/live?deliveries=true");
    const { redis, keys } = system.worker;
    await until(async () => (await redis.zscore(keys.watchedAccounts(), api.userId)) !== null);
    const second = await openSse(api, "/live?deliveries=true");
    try {
      await second.next("ready");
      await send({ n: 1 });
      await second.next("delivery", ({ state }) => state === "delivered");
    } finally {
      second.close();
      (await first).close();
    }
  });

  it("is streamed to nobody else, and not for too many emitters", async () => {
    const stranger = await system.user();
    expect((await stranger.request("GET", "/live", { query: { emitters: source } })).status).to.equal(404);
    const many = Array.from({ length: LIMITS.liveEmitters.value + 1 }, () => source).join();
    const tries: Record<string, string>[] = [{ emitters: many }, { deliveries: "1" }, { emitters: "" }];
    for (const query of tries) {
      expect((await api.request("GET", "/live", { query })).status, JSON.stringify(query)).to.equal(400);
    }
    const wrong = await api.request("GET", "/live", { headers: { "last-event-id": "x" } });
    expect(wrong.status).to.equal(400);
  });

  it("ends its stream with its session @long", async () => {
    const browser = new BrowserApi(system.baseUrl, await signInWith(api));
    const stream = await openSse(browser, "/live?runs=true", { cookie: await signInWith(api) });
    await stream.next("ready");
    for (const { id } of await api.expect(200, "GET", "/sessions"))
      await api.expect(204, "DELETE", `/sessions/${id}`);
    expect((await stream.next("end")).data).to.deep.equal({ reason: "session-ended" });
    stream.close();
  });
});
