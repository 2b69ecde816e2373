import { expect } from "chai";
import { Sources } from "../../src/models/source.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";

/** A source that emits from each hook; `refuse` names the hook that throws. */
const CODE = `export default { name: "Hooked", version: "0.0.1",
  props: { refuse: { type: "string", optional: true }, db: "$.service.db" },
  hooks: {
    async deploy() { this.say("deploy"); },
    async activate() { this.say("activate"); },
    async deactivate() { this.say("deactivate"); },
  },
  methods: { say(what) {
    if (this.refuse === what) throw new Error("no " + what);
    this.db.set("calls", [...(this.db.get("calls") ?? []), what]);
    this.$emit({ what, calls: this.db.get("calls") });
  } },
  run() {} };`;

describe("hooks of a source", () => {
  let system: System;
  let receiver: Receiver;
  before(async () => {
    system = await startSystem();
    receiver = await startReceiver();
  });
  after(async () => {
    await receiver.close();
    await system.stop();
  });

  const said = (api: Awaited<ReturnType<System["user"]>>, sourceId: string, count: number) =>
    until(async () => {
      const found = await api.summaries(sourceId);
      return found.length === count && found.reverse().map(({ event }) => event.raw_event.what);
    });

  it("deploy, then activate, run before the source is answered, and what they emit is stored in order", async () => {
    const api = await system.user();
    const source = await api.createSource({ component_code: CODE });
    expect(await said(api, source.id, 2)).to.deep.equal(["deploy", "activate"]);
  });

  it("deploy's events are dropped, and counted, with emit_on_deploy false", async () => {
    const api = await system.user();
    const source = await api.createSource({ component_code: CODE, emit_on_deploy: false });
    const detail = await until(async () => {
      const found = await api.expect(200, "GET", `/sources/${source.id}`);
      return found.dropped["deploy-muted"] && found;
    });
    expect(detail.dropped["deploy-muted"]).to.equal(2);
    expect(await api.summaries(source.id)).to.deep.equal([]);
  });

  it("a throw in deploy or activate fails the creation with the component's message and leaves nothing", async () => {
    const api = await system.user();
    for (const refuse of ["deploy", "activate"]) {
      const answer = await api.request("POST", "/sources", {
        body: { component_code: CODE, configured_props: { refuse } },
      });
      expect(answer.status).to.equal(400);
      expect(answer.body.error).to.include(`no ${refuse}`);
    }
    expect((await api.request("GET", "/users/me/sources")).body.data).to.deep.equal([]);
    expect(await Sources(system.web.mongo).countDocuments({ owner_id: api.userId })).to.equal(0);
  });

  it("an update calls deactivate, then activate with the new props; a refusal leaves what was there", async () => {
    const api = await system.user();
    const source = await api.createSource({ component_code: CODE });
    await api.expect(200, "PUT", `/sources/${source.id}`, { body: { name: "Second" } });
    expect(await said(api, source.id, 4)).to.deep.equal(["deploy", "activate", "deactivate", "activate"]);

    const refused = await api.request("PUT", `/sources/${source.id}`, {
      body: { name: "Third", configured_props: { refuse: "activate" } },
    });
    expect(refused.status).to.equal(400);
    const after = await api.expect(200, "GET", `/sources/${source.id}`);
    expect(after).to.include({ name: "Second", active: true });
    expect(after.configured_props.refuse).to.equal(undefined);
  });

  it("disabling calls deactivate only, enabling activate only", async () => {
    const api = await system.user();
    const source = await api.createSource({ component_code: CODE });
    await api.expect(200, "PUT", `/sources/${source.id}`, { body: { active: false } });
    expect((await api.expect(200, "GET", `/sources/${source.id}`)).active).to.equal(false);
    await api.expect(200, "PUT", `/sources/${source.id}`, { body: {} });
    expect(await said(api, source.id, 4)).to.deep.equal(["deploy", "activate", "deactivate", "activate"]);
  });

  it("a throw in deactivate is told to $errors subscribers and does not keep a deleted source alive", async () => {
    const api = await system.user();
    const source = await api.createSource({
      component_code: CODE,
      configured_props: { refuse: "deactivate" },
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

describe("a source whose hooks no worker runs", () => {
  it("is not made: 503, and nothing is left", async function () {
    this.timeout(60_000);
    const system = await startSystem({ HOOK_TIMEOUT: "100ms" }, { workers: false });
    try {
      const api = await system.user();
      const answer = await api.request("POST", "/sources", { body: { component_code: CODE } });
      expect(answer.status).to.equal(503);
      expect(await Sources(system.web.mongo).countDocuments({})).to.equal(0);
    } finally {
      await system.stop();
    }
  });
});
