import { expect } from "chai";
import { StoredEvents } from "../../src/models/event.ts";
import { RunRecords } from "../../src/models/run.ts";
import { SourceMemories, Sources } from "../../src/models/source.ts";
import { AutoSubscriptions, Subscriptions } from "../../src/models/subscription.ts";
import { openedQueue } from "../../src/queues/define-queue.ts";
import { runs } from "../../src/queues/runs.ts";
import type { Api, SourceView } from "../support/api.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";

const SECRET = "s3cr3t-of-the-owner";

const withProps = (props: string, name = "Props") =>
  `export default { name: "${name}", version: "0.0.1", props: ${props},
    run(event) { this.$emit({ token: this.token ?? null }); } };`;

const MANY = withProps(
  `{ http: "$.interface.http", ${Array.from({ length: 8 }, (_, i) => `p${i}: { type: "string", optional: true }`).join(", ")} }`,
  "Many",
);

describe("the life of a source", () => {
  let system: System;
  let api: Api & { userId: string };
  let receiver: Receiver;
  before(async () => {
    system = await startSystem();
    receiver = await startReceiver();
    api = await system.user();
  });
  after(async () => {
    await receiver.close();
    await system.stop();
  });

  const endpointOf = (source: SourceView) => source.configured_props.http?.endpoint_url ?? "";
  const put = (id: string, body: Record<string, unknown>) => api.request("PUT", `/sources/${id}`, { body });

  it("gives sources that are created at once with the same name different slugs", async () => {
    const owner = await system.user();
    const component = await owner.expect(201, "POST", "/components", {
      body: { component_code: withProps('{ http: "$.interface.http" }', "Über & Out!") },
    });
    const made = await Promise.all(
      Array.from({ length: 8 }, () => owner.createSource({ component_id: component.id })),
    );
    for (const { name, name_slug } of made) {
      expect(name).to.equal("uber-out");
      expect(name_slug).to.match(/^uber-out(-[a-z0-9]{6})?$/);
    }
    expect(new Set(made.map(({ name_slug }) => name_slug)).size).to.equal(8);
    for (const { id, name_slug } of made) {
      expect((await owner.expect(200, "GET", `/sources/${name_slug}`)).id).to.equal(id);
    }
    const renamed = await Promise.all(
      made.map(({ id }) => owner.expect(200, "PUT", `/sources/${id}`, { body: { name: "Same" } })),
    );
    expect(new Set(renamed.map(({ name_slug }) => name_slug)).size).to.equal(8);
  });

  it("lets two accounts use the same slug", async () => {
    const code = withProps('{ http: "$.interface.http" }', "Shared");
    const other = await system.user();
    const [mine, theirs] = await Promise.all([
      api.createSource({ component_code: code }),
      other.createSource({ component_code: code }),
    ]);
    expect([mine.name_slug, theirs.name_slug]).to.deep.equal(["shared", "shared"]);
    expect((await other.expect(200, "GET", "/sources/shared")).id).to.equal(theirs.id);
  });

  it("keeps the endpoint through updates as long as the component has an HTTP interface, then gets a new one", async () => {
    const source = await api.createSource({ component_code: MANY });
    const url = endpointOf(source);
    for (const body of [
      { name: "Renamed" },
      { component_code: MANY.replace("0.0.1", "0.0.2") },
      { active: false },
      {},
    ]) {
      const changed = (await put(source.id, body)).body.data;
      expect(endpointOf(changed)).to.equal(url);
    }
    const without = (await put(source.id, { component_code: withProps("{}") })).body.data;
    expect(without.configured_props).to.deep.equal({});
    expect((await fetch(url)).status).to.equal(404);
    const again = (await put(source.id, { component_code: MANY })).body.data;
    expect(endpointOf(again)).not.to.equal(url);
    expect((await fetch(endpointOf(again))).status).to.equal(200);
  });

  it("sets, changes and removes the scheduler as the timer, the component and `active` change", async () => {
    const timed = withProps(
      '{ timer: { type: "$.interface.timer", default: { intervalSeconds: 3600 } } }',
      "Timed",
    );
    const scheduler = async (id: string) => {
      const found = await openedQueue(system.web.queues, runs).getJobScheduler(id);
      return found && (found.pattern ?? Number(found.every));
    };
    const source = await api.createSource({ component_code: timed });
    expect(source.configured_props.timer).to.deep.equal({ cron: null, interval_seconds: 3600 });
    expect(await scheduler(source.id)).to.equal(3_600_000);
    await put(source.id, { configured_props: { timer: { cron: "0 3 * * *" } } });
    expect(await scheduler(source.id)).to.equal("0 3 * * *");
    await put(source.id, { active: false });
    expect(await scheduler(source.id)).to.equal(undefined);
    const back = (await put(source.id, { configured_props: { timer: null } })).body.data;
    expect(back.configured_props.timer).to.deep.equal({ cron: null, interval_seconds: 3600 });
    expect(await scheduler(source.id)).to.equal(3_600_000);
    await put(source.id, { component_code: withProps("{}") });
    expect(await scheduler(source.id)).to.equal(undefined);
    await put(source.id, { component_code: timed });
    await api.expect(204, "DELETE", `/sources/${source.id}`);
    await until(async () => (await scheduler(source.id)) === undefined, {
      what: "the removal of the scheduler",
    });
  });

  it("never shows a secret or a credential, even with another component", async () => {
    const guarded = withProps(
      `{ http: "$.interface.http", token: { type: "string", secret: true }, list: { type: "string[]", secret: true },
         acme: { type: "app", app: "acme" }, shown: "string" }`,
      "Guarded",
    );
    const configured_props = {
      token: SECRET,
      list: [SECRET],
      acme: { $auth: { key: SECRET } },
      shown: "shown",
    };
    const source = await api.createSource({ component_code: guarded, configured_props });
    const open = withProps(
      `{ http: "$.interface.http", token: "any", list: { type: "string[]", optional: true },
         acme: { type: "object", optional: true }, shown: "string" }`,
      "Open",
    );
    const responses = [
      await api.request("GET", `/sources/${source.id}`),
      await api.request("GET", "/users/me/sources"),
      await put(source.id, { configured_props: { shown: "again" } }),
      await put(source.id, { configured_props: { token: 7, shown: "again" } }),
      await put(source.id, { component_code: open }),
      await put(source.id, { component_code: open, configured_props: { token: "public" } }),
    ];
    for (const { text } of [{ text: JSON.stringify(source) }, ...responses])
      expect(text).not.to.include(SECRET);
    expect(responses.map(({ status }) => status)).to.deep.equal([200, 200, 200, 400, 400, 200]);
    // The prop is no longer secret, so its value must be sent again.
    expect(responses[4]?.body.errors[0].path).to.equal("configured_props.token");
    expect(responses[5]?.body.data.configured_props).to.deep.include({ token: "public", shown: "again" });
    const stored = await Sources(system.web.mongo).find().lean();
    expect(JSON.stringify(stored)).not.to.include(SECRET);
  });

  it("keeps a secret if it is also secret in the next component, and gives it to runs", async () => {
    const first = withProps('{ http: "$.interface.http", token: { type: "string", secret: true } }', "First");
    const source = await api.createSource({ component_code: first, configured_props: { token: SECRET } });
    await put(source.id, { component_code: first.replace("0.0.1", "0.0.2") });
    await fetch(endpointOf(source));
    const [row] = await until(async () => {
      const rows = await api.summaries(source.id);
      return rows.length > 0 && rows;
    });
    expect(row?.event.raw_event).to.deep.equal({ token: SECRET });
  });

  it("applies updates of different props that arrive at once", async () => {
    const source = await api.createSource({ component_code: MANY, configured_props: { p0: "first" } });
    const responses = await Promise.all(
      Array.from({ length: 7 }, (_, i) =>
        put(source.id, { configured_props: { [`p${i + 1}`]: `v${i + 1}` } }),
      ),
    );
    expect(responses.map(({ status }) => status)).to.deep.equal(Array(7).fill(200));
    const { configured_props } = await api.expect(200, "GET", `/sources/${source.id}`);
    const { http: _, ...props } = configured_props;
    expect(props).to.deep.equal({
      p0: "first",
      ...Object.fromEntries(Array.from({ length: 7 }, (_, i) => [`p${i + 1}`, `v${i + 1}`])),
    });
  });

  it("applies updates of different props that arrive at once, also with hooks", async () => {
    const hooked = MANY.replace(
      "run(event)",
      "hooks: { async activate() {}, async deactivate() {} }, run(event)",
    );
    const source = await api.createSource({ component_code: hooked });
    const responses = await Promise.all(
      Array.from({ length: 4 }, (_, i) => put(source.id, { configured_props: { [`p${i}`]: `v${i}` } })),
    );
    expect(responses.map(({ status }) => status)).to.deep.equal(Array(4).fill(200));
    const { configured_props } = await api.expect(200, "GET", `/sources/${source.id}`);
    expect(configured_props).to.deep.include({ p0: "v0", p1: "v1", p2: "v2", p3: "v3" });
  });

  for (const [what, code] of [
    ["without hooks", MANY],
    [
      "with hooks",
      MANY.replace("run(event)", "hooks: { async activate() {}, async deactivate() {} }, run(event)"),
    ],
  ] as const) {
    it(`${what}, is deleted during updates, each of which is applied or not found`, async () => {
      const source = await api.createSource({ component_code: code });
      const changes = Array.from({ length: 4 }, (_, i) =>
        put(source.id, { configured_props: { p0: `v${i}` } }),
      );
      const deleted = api.request("DELETE", `/sources/${source.id}`);
      for (const { status } of await Promise.all(changes)) expect([200, 404]).to.include(status);
      expect([204, 404]).to.include((await deleted).status);
      await until(async () => (await Sources(system.web.mongo).countDocuments({ _id: source.id })) === 0);
    });
  }

  it("leaves nothing behind if a hook or a prop is rejected", async () => {
    const owner = await system.user();
    const code = `export default { name: "Rejecting", version: "0.0.1",
      props: { timer: "$.interface.timer", city: "string" }, hooks: { async activate() { throw new Error("closed"); } }, run() {} };`;
    const noCity = await owner.request("POST", "/sources", { body: { component_code: code } });
    expect(noCity.body.errors).to.deep.include({
      in: "body",
      path: "configured_props.city",
      message: "is required",
    });
    const rejected = await owner.request("POST", "/sources", {
      body: { component_code: code, configured_props: { city: "Bern" } },
    });
    expect(rejected.status).to.equal(400);
    expect(rejected.body.detail).to.match(/^deploying the source failed: closed \(at component\.js:2:\d+\)$/);
    expect(await Sources(system.web.mongo).countDocuments({ owner_id: owner.userId })).to.equal(0);
  });

  it("is deleted during a run only after the run has ended, and leaves nothing in either store", async () => {
    const code = `export default { name: "Slow", version: "0.0.1", dedupe: "unique",
      props: { http: "$.interface.http", db: "$.service.db", timer: { type: "$.interface.timer", default: { intervalSeconds: 3600 } } },
      async run(event) {
        if (event.path === "/slow") await new Promise(resolve => setTimeout(resolve, 1000));
        this.db.set("last", event.path ?? null);
        console.log("said");
        this.$emit({ path: event.path, big: "x".repeat(2000) }, { id: event.path ?? "tick" });
        if (event.path === "/bad") throw new Error("bad");
      } };`;
    const source = await api.createSource({ component_code: code });
    const emitter = await api.createSource({ component_code: MANY });
    const webhook = await api.createWebhook(receiver.url);
    for (const path of ["/a", "/bad"]) await fetch(`${endpointOf(source)}${path}`);
    await until(async () => (await api.summaries(source.id, { stream: "$errors" })).length === 1);
    await api.subscribe(source.id, webhook.id);
    await api.subscribe(emitter.id, source.id);
    await api.expect(200, "POST", "/auto_subscriptions", {
      query: { listener_id: source.id, event_name: "$errors" },
    });
    await until(async () => (await system.web.redis.keys(`*${source.id}*`)).length > 5);

    await fetch(`${endpointOf(source)}/slow`);
    await until(async () => (await system.web.runQueue.length(source.id)) === 0, {
      what: "the start of the run",
    });
    await api.expect(204, "DELETE", `/sources/${source.id}`);
    expect((await api.request("GET", `/sources/${source.id}`)).status).to.equal(404);

    const { mongo, redis } = system.web;
    await until(async () => (await Sources(mongo).countDocuments({ _id: source.id })) === 0, {
      what: "the deletion of the source",
    });
    const ended = await RunRecords(mongo).find({ source_id: source.id, kind: "http" }).lean();
    expect(ended.map(({ outcome }) => outcome)).to.have.members(["ok", "Error", "ok"]);
    const eitherSide = { $or: [{ emitter_id: source.id }, { listener_id: source.id }] };
    expect(await Subscriptions(mongo).countDocuments(eitherSide)).to.equal(0);
    expect(await AutoSubscriptions(mongo).countDocuments({ listener_id: source.id })).to.equal(0);
    expect(await SourceMemories(mongo).countDocuments({ _id: source.id })).to.equal(0);
    expect(
      await StoredEvents(mongo).countDocuments({ emitter_id: source.id, has_webhook_listeners: false }),
    ).to.equal(0);
    // Only the source's own keys: queues keep finished jobs for a while.
    await until(async () => (await redis.keys(`*{${source.id}}*`)).length === 0, {
      what: "the deletion of the source's last key",
    });
  });
});
