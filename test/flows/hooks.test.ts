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

  it("run deactivate, then activate with the new props on an update; a failed update changes nothing", async () => {
    const api = await system.user();
    const source = await api.createSource({ component_code: CODE });
    await api.expect(200, "PUT", `/sources/${source.id}`, { body: { name: "Second" } });
    expect(await emittedBy(api, source.id, 4)).to.deep.equal([
      "deploy",
      "activate",
      "deactivate",
      "activate",
    ]);

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
    const system = await startSystem({ HOOK_TIMEOUT: "100ms" }, { workers: false });
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
