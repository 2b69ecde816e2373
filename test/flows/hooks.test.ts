import { createHmac } from "node:crypto";
import { expect } from "chai";
import { Sources } from "../../src/models/source.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";

/** A source that emits from each hook; `failing` names the hook that throws. */
const CODE = `export default { name: "Hooked", version: "0.0.1",
  props: { failing: { type: "string", optional: true }, db: "$.service.db" },
  hooks: {
    async deploy() { this.record("deploy"); },
    async activate() { this.record("activate"); },
    async deactivate() { this.record("deactivate"); },
  },
  methods: { record(what) {
    if (this.failing === what) throw new Error("no " + what);
    this.db.set("calls", [...(this.db.get("calls") ?? []), what]);
    this.$emit({ what, calls: this.db.get("calls") });
  } },
  run() {} };`;

/** A source that has a service send to its endpoint, and checks the service's signature over the address as it is requested. */
const SIGNED = `import { createHmac } from "node:crypto";
export default { name: "Signed", version: "0.0.1", props: { http: "$.interface.http", service: "string" },
  hooks: { async activate() {
    await fetch(this.service, { method: "POST", body: JSON.stringify({ url: this.http.endpoint }) });
  } },
  async run({ headers, path }) {
    const signed = createHmac("sha256", "key").update(\`\${this.http.endpoint}/\`).digest("hex");
    this.$emit({ matches: headers["x-signature"] === signed, path });
  } };`;

/** A source that sends to its own endpoint while it is being activated, as a service does that checks an address. */
const CHECKED = `export default { name: "Checked", version: "0.0.1",
  props: { http: { type: "$.interface.http", customResponse: true }, failing: { type: "boolean", optional: true } },
  hooks: { async activate() {
    const response = await fetch(this.http.endpoint + "/check", { method: "POST", body: "sent" });
    this.$emit({ status: response.status });
    if (this.failing) throw new Error("no activation");
  } },
  async run({ path, bodyRaw }) { this.http.respond({ status: 201 }); this.$emit({ path, bodyRaw }); } };`;

describe("hooks of a source", () => {
  let system: System;
  let receiver: Receiver;
  before(async () => {
    system = await startSystem({ SANDBOX_EGRESS_ALLOW: "127.0.0.0/8" });
    receiver = await startReceiver();
  });
  after(async () => {
    await receiver.close();
    await system.stop();
  });

  const emittedBy = (api: Awaited<ReturnType<System["user"]>>, sourceId: string, count: number) =>
    until(async () => {
      const found = await api.summaries(sourceId);
      return found.length === count && found.reverse().map(({ event }) => event.raw_event.what);
    });

  it("run deploy, then activate, before the creation returns, and store their events in order", async () => {
    const api = await system.user();
    const source = await api.createSource({ component_code: CODE });
    expect(await emittedBy(api, source.id, 2)).to.deep.equal(["deploy", "activate"]);
  });

  it("have the events of deploy dropped and counted with emit_on_deploy false", async () => {
    const api = await system.user();
    const source = await api.createSource({ component_code: CODE, emit_on_deploy: false });
    const detail = await until(async () => {
      const found = await api.expect(200, "GET", `/sources/${source.id}`);
      return found.dropped["deploy-muted"] && found;
    });
    expect(detail.dropped["deploy-muted"]).to.equal(2);
    expect(await api.summaries(source.id)).to.deep.equal([]);
  });

  it("fail the creation with the component's message, without a trace, if deploy or activate throws", async () => {
    const api = await system.user();
    for (const failing of ["deploy", "activate"]) {
      const response = await api.request("POST", "/sources", {
        body: { component_code: CODE, configured_props: { failing } },
      });
      expect(response.status).to.equal(400);
      expect(response.body.error).to.include(`no ${failing}`);
    }
    expect((await api.request("GET", "/users/me/sources")).body.data).to.deep.equal([]);
    expect(await Sources(system.web.mongo).countDocuments({ owner_id: api.userId })).to.equal(0);
  });

  const NEXT = CODE.replace("0.0.1", "0.0.2");
  const changes: [string, object[], string[]][] = [
    ["a new name", [{ name: "Second" }], []],
    ["nothing", [{}], []],
    ["the same code", [{ component_code: CODE }], []],
    ["the same props", [{ configured_props: { failing: "never" } }], []],
    ["a new name and the same props", [{ name: "Second", configured_props: { failing: "never" } }], []],
    ["another prop", [{ configured_props: { failing: "other" } }], ["deactivate", "activate"]],
    ["a prop that is removed", [{ configured_props: { failing: null } }], ["deactivate", "activate"]],
    ["other code", [{ component_code: NEXT }], ["deactivate", "activate"]],
    ["being disabled", [{ active: false }], ["deactivate"]],
    ["being disabled twice", [{ active: false }, { active: false, name: "Second" }], ["deactivate"]],
    [
      "other props while disabled",
      [{ active: false }, { active: false, configured_props: { failing: "x" } }],
      ["deactivate"],
    ],
    [
      "being disabled with other props",
      [{ active: false, configured_props: { failing: "x" } }],
      ["deactivate"],
    ],
    ["being disabled and enabled", [{ active: false }, {}], ["deactivate", "activate"]],
  ];
  for (const [what, bodies, calls] of changes) {
    it(`that an update calls: ${calls.join(", ") || "none"}, for ${what} @long`, async () => {
      const api = await system.user();
      const source = await api.createSource({ component_code: CODE, configured_props: { failing: "never" } });
      for (const body of bodies) await api.expect(200, "PUT", `/sources/${source.id}`, { body });
      // A sentinel: hooks and publications of one source keep their order.
      await until(async () => (await api.expect(200, "GET", `/sources/${source.id}`)).deactivating === false);
      await api.expect(202, "POST", `/sources/${source.id}/events`, { body: { event: { what: "end" } } });
      const emitted = await until(async () => {
        const found = (await api.summaries(source.id))
          .reverse()
          .map(({ event }) => event.raw_event?.what ?? event.what);
        return found.includes("end") && found.length >= 3 + calls.length && found;
      });
      expect(emitted.filter(one => one !== "end")).to.deep.equal(["deploy", "activate", ...calls]);
    });
  }

  it("are not run by a failed update, which changes nothing", async () => {
    const api = await system.user();
    const source = await api.createSource({ component_code: CODE });
    await api.expect(200, "PUT", `/sources/${source.id}`, { body: { name: "Second" } });

    const failed = await api.request("PUT", `/sources/${source.id}`, {
      body: { name: "Third", configured_props: { failing: "activate" } },
    });
    expect(failed.status).to.equal(400);
    const after = await api.expect(200, "GET", `/sources/${source.id}`);
    expect(after).to.include({ name: "Second", active: true });
    expect(after.configured_props.failing).to.equal(undefined);
  });

  it("run deactivate only when a source is disabled, and activate only when it is enabled", async () => {
    const api = await system.user();
    const source = await api.createSource({ component_code: CODE });
    await api.expect(200, "PUT", `/sources/${source.id}`, { body: { active: false } });
    expect((await api.expect(200, "GET", `/sources/${source.id}`)).active).to.equal(false);
    await api.expect(200, "PUT", `/sources/${source.id}`, { body: {} });
    expect(await emittedBy(api, source.id, 4)).to.deep.equal([
      "deploy",
      "activate",
      "deactivate",
      "activate",
    ]);
  });

  it("follow a run in progress when its source is disabled, which is accepted at once", async () => {
    const api = await system.user();
    const code = CODE.replace("run() {}", "async run() { await fetch(this.url); }").replace(
      "props: {",
      'props: { http: "$.interface.http", url: "string",',
    );
    const waits = await startReceiver("hang");
    try {
      const source = await api.createSource({ component_code: code, configured_props: { url: waits.url } });
      const endpoint = source.configured_props.http?.endpoint_url ?? "";
      await fetch(endpoint, { method: "POST" });
      await until(() => waits.hanging() === 1, { what: "the start of the run" });
      const at = performance.now();
      const disabled = await api.expect(200, "PUT", `/sources/${source.id}`, { body: { active: false } });
      expect(disabled.active).to.equal(false);
      expect(performance.now() - at, "ms").to.be.below(10_000);
      expect((await fetch(endpoint, { method: "POST" })).status).to.equal(404);
      const read = () => api.expect(200, "GET", `/sources/${source.id}`);
      expect(await read()).to.include({ active: false, deactivating: true });
      await api.expect(200, "PUT", `/sources/${source.id}`, { body: { active: false, name: "Renamed" } });
      expect(await emittedBy(api, source.id, 2)).to.deep.equal(["deploy", "activate"]);
      waits.release();
      await until(async () => (await read()).deactivating === false, { what: "the hook" });
      expect(await emittedBy(api, source.id, 3)).to.deep.equal(["deploy", "activate", "deactivate"]);
      expect(await read()).to.include({ active: false, name: "Renamed" });
    } finally {
      waits.release();
      await waits.close();
    }
  });

  it("may have requests sent to their endpoint, which are run after the change", async () => {
    const api = await system.user();
    const source = await api.createSource({ component_code: CHECKED });
    const emittedSince = (count: number) =>
      until(async () => {
        const found = await api.summaries(source.id);
        return found.length === count && found.reverse().map(({ event }) => event.raw_event);
      });
    const once = [{ status: 200 }, { path: "/check", bodyRaw: "sent" }];
    expect(await emittedSince(2)).to.deep.equal(once);
    const url = source.configured_props.http?.endpoint_url ?? "";
    expect((await fetch(url, { method: "POST" })).status).to.equal(201);
    await emittedSince(3);
    await api.expect(200, "POST", `/sources/${source.id}/rotate_endpoint`);
    expect((await emittedSince(5)).slice(3)).to.deep.equal(once);
  });

  it("leave nothing of the requests to a source whose creation fails @long", async () => {
    const api = await system.user();
    const body = { component_code: CHECKED, configured_props: { failing: true } };
    expect((await api.request("POST", "/sources", { body })).status).to.equal(400);
    const { redis, keys } = system.web;
    await until(async () => (await redis.zcard(keys.sourcesWithRuns())) === 0, {
      what: "an empty run queue",
    });
  });

  it("learn the new address when the endpoint is replaced, and the old one ends", async () => {
    const api = await system.user();
    const code = `export default { name: "Registered", version: "0.0.1",
      props: { http: "$.interface.http" },
      hooks: { activate() { this.$emit({ on: this.http.endpoint }); }, deactivate() { this.$emit({ off: this.http.endpoint }); } },
      run() {} };`;
    const source = await api.createSource({ component_code: code });
    const before = source.configured_props.http?.endpoint_url ?? "";
    const rotated = await api.expect(200, "POST", `/sources/${source.id}/rotate_endpoint`);
    const after = rotated.configured_props.http.endpoint_url;
    expect(after).not.to.equal(before);
    expect(rotated).to.include({ id: source.id, active: true, name: source.name });
    const statuses = [];
    for (const url of [before, after]) statuses.push((await fetch(url, { method: "POST" })).status);
    expect(statuses).to.deep.equal([404, 200]);
    const emitted = await until(async () => {
      const found = await api.summaries(source.id);
      return found.length === 3 && found.reverse().map(({ event }) => event.raw_event);
    });
    expect(emitted).to.deep.equal([{ on: before }, { off: before }, { on: after }]);
    const silent = await api.createSource({ component_code: CODE });
    expect((await api.request("POST", `/sources/${silent.id}/rotate_endpoint`)).status).to.equal(409);
    const stranger = await system.user();
    expect((await stranger.request("POST", `/sources/${source.id}/rotate_endpoint`)).status).to.equal(404);
  });

  it("give senders the address over which the component checks signatures, also with a slash added to it", async () => {
    const api = await system.user();
    const service = await startReceiver();
    try {
      const source = await api.createSource({
        component_code: SIGNED,
        configured_props: { service: service.url },
      });
      const { url } = JSON.parse((service.requests[0] as { raw: string }).raw);
      expect(source.configured_props.http?.endpoint_url).to.equal(url);
      const signature = createHmac("sha256", "key").update(url).digest("hex");
      await fetch(url, { method: "POST", headers: { "x-signature": signature } });
      const [summary] = await until(async () => {
        const found = await api.summaries(source.id);
        return found.length > 0 && found;
      });
      expect(summary?.event.raw_event).to.deep.equal({ matches: true, path: "/" });
    } finally {
      await service.close();
    }
  });

  it("report a throw in deactivate on $errors, and the source is deleted nevertheless", async () => {
    const api = await system.user();
    const source = await api.createSource({
      component_code: CODE,
      configured_props: { failing: "deactivate" },
    });
    await api.subscribe(source.id, (await api.createWebhook(receiver.url)).id, "$errors");
    await api.expect(204, "DELETE", `/sources/${source.id}`);
    expect((await api.request("GET", `/sources/${source.id}`)).status).to.equal(404);

    const delivery = await until(() => receiver.requests[0], { what: "the error's delivery" });
    expect(JSON.parse(delivery.raw).error.message).to.equal("no deactivate");
    await until(async () => (await Sources(system.web.mongo).countDocuments({ _id: source.id })) === 0);
    expect((await api.request("GET", "/users/me/subscriptions")).body.data).to.deep.equal([]);
  });
});

describe("a source whose hooks no worker executes", () => {
  it("is rejected with 503, and nothing of it is stored", async () => {
    const system = await startSystem({ TIMEOUTS: "hook:100ms" }, { workers: false });
    try {
      const api = await system.user();
      const response = await api.request("POST", "/sources", { body: { component_code: CODE } });
      expect(response.status).to.equal(503);
      expect(await Sources(system.web.mongo).countDocuments({})).to.equal(0);
    } finally {
      await system.stop();
    }
  });
});
