import { expect } from "chai";
import { tokenFields } from "../../src/connections/secrets.ts";
import { newId } from "../../src/lib/ids.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { Connections } from "../../src/models/connection.ts";
import type { Api, Problem, SourceView } from "../support/api.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";

const KEY = "a key that is a secret";

const CODE = `export default { name: "Uses", version: "0.0.1",
  props: {
    http: "$.interface.http",
    demo: { type: "app", app: "demo" },
    city: { type: "string", optional: true, async options() { return [this.demo.$auth.api_key.length + ""]; } },
  },
  run() { this.$emit({ auth: this.demo.$auth }); } };`;

describe("a source with a connection", () => {
  let system: System;
  let api: Api & { userId: string };
  before(async () => {
    system = await startSystem();
    api = await system.user({ plan: "paid" });
  });
  after(() => system?.stop());

  const newKeys = async (app = "demo", owner: Api = api): Promise<string> =>
    (await owner.expect(201, "POST", "/connections", { body: { app, fields: { api_key: KEY } } })).id;
  const deploy = (authProvisionId: string): Promise<SourceView> =>
    api.createSource({ component_code: CODE, configured_props: { demo: { authProvisionId } } });
  const trigger = (source: SourceView) =>
    fetch(source.configured_props.http?.endpoint_url ?? "", { method: "POST" });
  /** Runs the source once, and returns what its newest event has as `auth`. */
  async function authOfRun(source: SourceView, count: number): Promise<Record<string, string>> {
    await trigger(source);
    const rows = await until(async () => {
      const found = await api.summaries(source.id);
      return found.length === count && found;
    });
    return rows[0]?.event.raw_event.auth;
  }

  it("runs with its fields in $auth, shows its id only, and has new fields at the next run", async () => {
    const id = await newKeys();
    const source = await deploy(id);
    expect(source.configured_props.demo).to.deep.equal({ authProvisionId: id });
    expect(await authOfRun(source, 1)).to.deep.equal({ api_key: KEY });
    const shown = await api.request("GET", `/sources/${source.id}`);
    expect(shown.text).not.to.contain(KEY);
    expect(shown.body.data.secrets_set).to.deep.equal([]);
    const updated = await api.request("PUT", `/connections/${id}`, { body: { fields: { token: "newer" } } });
    expect(updated.text).not.to.contain("newer");
    expect(updated.body.data.field_names).to.deep.equal(["token"]);
    expect(await authOfRun(source, 2)).to.deep.equal({ token: "newer" });
    const sent = { configured_props: source.configured_props };
    const again = await api.expect(200, "PUT", `/sources/${source.id}`, { body: sent });
    expect(again.configured_props.demo, "what was shown, sent back").to.deep.equal({ authProvisionId: id });
  });

  it("is rejected at the prop's field if the connection is absent, foreign or of another app", async () => {
    const stranger = await system.user();
    const source = await deploy(await newKeys());
    const cases: [string, RegExp][] = [
      [newId("apn"), /has no connection/],
      [await newKeys("demo", stranger), /has no connection/],
      [await newKeys("other"), /is a connection of the app other/],
      ["apn_x", /id of a connection/],
    ];
    for (const [authProvisionId, message] of cases) {
      const configured_props = { demo: { authProvisionId } };
      for (const response of [
        await api.request<Problem>("POST", "/sources", { body: { component_code: CODE, configured_props } }),
        await api.request<Problem>("PUT", `/sources/${source.id}`, { body: { configured_props } }),
      ]) {
        expect(response.status).to.equal(400);
        expect(response.body.errors?.[0]?.path).to.match(/^configured_props\.demo/);
        expect(response.body.errors?.[0]?.message).to.match(message);
      }
    }
    const both = { demo: { authProvisionId: newId("apn"), $auth: {} } };
    const { status } = await api.request("PUT", `/sources/${source.id}`, {
      body: { configured_props: both },
    });
    expect(status).to.equal(400);
  });

  it("still runs with credentials of its own", async () => {
    const configured_props = { demo: { $auth: { api_key: "own" } } };
    const source = await api.createSource({ component_code: CODE, configured_props });
    expect(source.configured_props.demo).to.equal(undefined);
    expect(await authOfRun(source, 1)).to.deep.equal({ api_key: "own" });
  });

  it("keeps its connection from being deleted, unless by force: then its runs fail and say why", async () => {
    const id = await newKeys();
    const source = await deploy(id);
    const inUse = await api.request<Problem>("DELETE", `/connections/${id}`);
    expect([inUse.status, inUse.body.detail]).to.satisfy(() => inUse.body.detail.includes(source.id));
    expect(inUse.status).to.equal(409);
    await api.expect(204, "DELETE", `/connections/${id}`, { query: { force: "true" } });
    await trigger(source);
    const [failed] = await until(async () => {
      const rows = await api.summaries(source.id, { stream: "$errors" });
      return rows.length > 0 && rows;
    });
    expect(failed?.event.error.code).to.equal("Connection Failed");
    expect(failed?.event.error.stack).to.contain(`${id} no longer exists`);
    const run = await until(async () => (await api.expect(200, "GET", `/sources/${source.id}/runs`))[0]);
    expect(run.outcome).to.equal("Connection Failed");
    await api.expect(200, "PUT", `/sources/${source.id}`, { body: { name: "Renamed", active: false } });
    const other = { configured_props: { demo: { authProvisionId: await newKeys() } } };
    const mended = await api.expect(200, "PUT", `/sources/${source.id}`, { body: other });
    expect((await authOfRun(mended, 1)).api_key).to.equal(KEY);
  });

  it("that is deleted or gets another connection no longer keeps the first", async () => {
    const [first, second] = [await newKeys(), await newKeys()];
    const source = await deploy(first);
    const other = { configured_props: { demo: { authProvisionId: second } } };
    await api.expect(200, "PUT", `/sources/${source.id}`, { body: other });
    await api.expect(204, "DELETE", `/connections/${first}`);
    await api.expect(204, "DELETE", `/sources/${source.id}`);
    await api.expect(204, "DELETE", `/connections/${second}`);
    expect((await api.request("GET", `/connections/${second}`)).status).to.equal(404);
  });

  it("of which the app has ended the access fails each run with the app's code, until it is reconnected", async () => {
    const _id = newId("apn");
    const tokens = { accessToken: "a token", refreshToken: "a refresh token", expiresInS: 3600, others: {} };
    const fault = { code: "invalid_grant", message: "the app responded with invalid_grant", at_ms: 1 };
    await Connections(system.web.mongo).insertOne({
      ...{ _id, owner_id: api.userId, user_id: api.userId, app: "demo", kind: "oauth2", name: "Demo" },
      ...{ scope: null, version: 1, created_at: 0, updated_at: 0 },
      ...tokenFields(system.web, tokens),
      ...{ health: "broken", fault },
    });
    const source = await deploy(_id);
    await trigger(source);
    const [failed] = await until(async () => {
      const rows = await api.summaries(source.id, { stream: "$errors" });
      return rows.length > 0 && rows;
    });
    expect(JSON.stringify(failed)).to.contain("invalid_grant").and.not.to.contain("a refresh token");
    const $set = {
      ...tokenFields(system.web, { ...tokens, others: { instance_url: "https://eu.example" } }),
    };
    await Connections(system.web.mongo).updateOne({ _id }, { $set });
    await system.web.routing.invalidate([api.userId]);
    expect(await authOfRun(source, 1)).to.deep.equal({
      instance_url: "https://eu.example",
      oauth_access_token: "a token",
    });
  });

  it("lists choices with its connection, while it is configured and afterwards", async () => {
    const id = await newKeys();
    const source = await deploy(id);
    const body = { prop_name: "city" };
    const stored = await api.expect(200, "POST", `/sources/${source.id}/configure`, { body });
    const given = { ...body, configured_props: { demo: { authProvisionId: id } } };
    const path = `/components/${source.component_id}/configure`;
    const asked = await api.expect(200, "POST", path, { body: given });
    for (const { options } of [stored, asked]) expect(options[0].value).to.equal(String(KEY.length));
    const foreign = { ...body, configured_props: { demo: { authProvisionId: newId("apn") } } };
    expect((await api.request("POST", path, { body: foreign })).status).to.equal(400);
  });

  it("that is only tried has its connection too", async () => {
    const configured_props = { demo: { authProvisionId: await newKeys() } };
    const body = { component_code: CODE, configured_props, event: {} };
    const { emits } = await api.expect(200, "POST", "/components/try", { body });
    expect(emits[0].event.auth).to.deep.equal({ api_key: KEY });
  });

  it("names what is wrong with fields, and shows none of their values", async () => {
    const cases: [Record<string, string>, string][] = [
      [{}, "fields"],
      [{ "not a name": KEY }, "fields.not a name"],
      [{ large: KEY.padEnd(LIMITS.connectionBytes.value, "x") }, "fields"],
      [
        Object.fromEntries(
          Array.from({ length: LIMITS.connectionFields.value + 1 }, (_, n) => [`f${n}`, KEY]),
        ),
        "fields",
      ],
    ];
    for (const [fields, path] of cases) {
      const { status, body, text } = await api.request<Problem>("POST", "/connections", {
        body: { app: "demo", fields },
      });
      expect([status, body.errors?.[0]?.path]).to.deep.equal([400, path]);
      expect(text).not.to.contain(KEY);
    }
  });
});
