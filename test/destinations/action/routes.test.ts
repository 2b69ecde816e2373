import { expect } from "chai";
import type { Api } from "../../support/api.ts";
import { type System, startSystem } from "../../support/system.ts";

const CODE = `export default {
  name: "Note", version: "0.0.1", key: "note", type: "action",
  props: {
    app: { type: "app", app: "notes" }, to: "string", kind: { type: "string", options: ["a", "b"], default: "a" },
    count: { type: "integer", optional: true }, key: { type: "string", secret: true, optional: true },
  },
  run() {},
};`;
const SOURCE = `export default { name: "S", version: "0.0.1", props: { http: "$.interface.http" }, run() {} };`;

const ASKED = `export default {
  name: "Asked", version: "0.0.1", type: "action",
  props: {
    key: { type: "string", secret: true }, country: "string",
    city: { type: "string", optional: true, options() {
      if (this.key !== "s3cret") throw new Error("401 from the atlas");
      return [this.country + "-1", this.country + "-2"];
    } },
    mode: { type: "string", default: "plain", reloadProps: true },
  },
  additionalProps() {
    if (this.key !== "s3cret") throw new Error("401 from the atlas");
    return this.mode === "sized" ? { size: { type: "string", options: () => ["m", "km"] } } : {};
  },
  run() {},
};`;

describe("the destinations API with actions", () => {
  let system: System;
  let api: Api & { userId: string };
  before(async () => {
    system = await startSystem({}, { workers: false });
    api = await system.user();
  });
  after(() => system.stop());

  const create = (action: object, by: Api = api) =>
    by.expect(201, "POST", "/destinations", { body: { name: "note", action } });
  const change = (id: string, action: object) =>
    api.expect(200, "PUT", `/destinations/${id}`, { body: { action } });
  const rejected = async (action: object): Promise<[path: string, message: string][]> => {
    const { status, body } = await api.request("POST", "/destinations", { body: { action } });
    expect(status, JSON.stringify(body)).to.equal(400);
    return body.errors.map(({ path, message }: { path: string; message: string }) => [path, message]);
  };

  it("create one by code, key or id, and show it without its secrets", async () => {
    const configured_props = { app: { $auth: { token: "s3cret" } }, to: "{{event.to}}", key: "s3cret" };
    const created = await create({ component_code: CODE, configured_props });
    expect(created.id).to.match(/^ac_/);
    expect(created).to.include({ kind: "action", name: "note" });
    const { component_id } = created.action;
    expect(created.action).to.deep.equal({
      component_id,
      configured_props: { to: "{{event.to}}" },
      dynamic_props_id: null,
      dynamic_props: [],
      secrets_set: ["app", "key"],
    });
    for (const named of [{ component_id }, { key: "note" }]) {
      const other = await create({ ...named, configured_props: { to: "x" } });
      expect(other.action.component_id).to.equal(component_id);
    }
    expect(await api.expect(200, "GET", `/destinations/${created.id}`)).to.deep.equal(created);
  });

  it("change props, keeping what is left out, and the component", async () => {
    const { id } = await create({
      component_code: CODE,
      configured_props: { to: "x", key: "s3cret", count: 1 },
    });
    expect(
      (await change(id, { configured_props: { to: "{{event.to}}", count: null } })).action,
    ).to.deep.include({
      configured_props: { to: "{{event.to}}" },
      secrets_set: ["key"],
    });
    const open = CODE.replace("secret: true, ", "");
    const changed = await change(id, { component_code: open });
    expect(changed.action).to.deep.include({ configured_props: { to: "{{event.to}}" }, secrets_set: [] });
  });

  it("reject wrong props, templates and components by the name of the field", async () => {
    const props = (configured_props: object) => rejected({ component_code: CODE, configured_props });
    expect(await props({})).to.deep.equal([["action.configured_props.to", "is required"]]);
    expect(await props({ to: 1, other: 2 })).to.deep.equal([
      ["action.configured_props.other", "the component has no such prop"],
      ["action.configured_props.to", "must be a string"],
    ]);
    expect((await props({ to: "x", kind: "c" }))[0]?.[0]).to.equal("action.configured_props.kind");
    const [[path, message] = []] = await props({ to: "{{user.name}}" });
    expect(path).to.equal("action.configured_props.to");
    expect(message).to.match(/^\{\{user\.name\}\} must be the path of a value, such as/);
    expect(await rejected({ component_code: SOURCE })).to.deep.equal([
      ["action.component_code", 'is not an action (type: "action"); deploy it by POST /sources'],
    ]);
    expect((await rejected({})).map(([one]) => one)).to.include("action.component_id");
    const source = await api.request("POST", "/sources", { body: { component_code: CODE } });
    expect([source.status, source.body.errors[0].path]).to.deep.equal([400, "component_code"]);
  });

  it("list the choices of a prop with the values and secrets that are stored where a form leaves them out", async () => {
    const configured_props = { key: "s3cret", country: "CH" };
    const { id } = await create({ component_code: ASKED, configured_props });
    const choices = (body: object) => api.expect(200, "POST", `/destinations/${id}/configure`, { body });
    const listed = async (body: object) => {
      const { options, error } = await choices({ prop_name: "city", ...body });
      return error?.message ?? options.map(({ value }: { value: string }) => value);
    };
    expect(await listed({})).to.deep.equal(["CH-1", "CH-2"]);
    expect(await listed({ configured_props: { country: "AT" } })).to.deep.equal(["AT-1", "AT-2"]);
    expect(await listed({ configured_props: { country: "{{event.country}}" } })).to.deep.equal([
      "{{event.country}}-1",
      "{{event.country}}-2",
    ]);
    expect(await listed({ configured_props: { key: "another" } })).to.equal("401 from the atlas");
    const { status, body } = await api.request("POST", `/destinations/${id}/configure`, {
      body: { prop_name: "nothing" },
    });
    expect([status, body.errors[0].path]).to.deep.equal([400, "prop_name"]);
  });

  it("get the props that the values lead to, with those that are stored, and are changed with them", async () => {
    const configured_props = { key: "s3cret", country: "CH" };
    const { id } = await create({ component_code: ASKED, configured_props });
    const next = await api.expect(200, "POST", `/destinations/${id}/props`, {
      body: { configured_props: { mode: "sized" } },
    });
    expect(next.error).to.equal(null);
    expect(next.dynamic_props.map(({ name }: { name: string }) => name)).to.deep.equal(["size"]);
    const { dynamic_props_id } = next;
    const sizes = await api.expect(200, "POST", `/destinations/${id}/configure`, {
      body: { prop_name: "size", configured_props: { mode: "sized" }, dynamic_props_id },
    });
    expect(sizes.options.map(({ value }: { value: string }) => value)).to.deep.equal(["m", "km"]);
    const { action } = await change(id, {
      configured_props: { mode: "sized", size: "km" },
      dynamic_props_id,
    });
    expect(action).to.deep.include({ dynamic_props_id, secrets_set: ["key"] });
    expect(action.configured_props).to.deep.include({ mode: "sized", size: "km" });
    const again = await api.expect(200, "POST", `/destinations/${id}/configure`, {
      body: { prop_name: "size" },
    });
    expect(again.options).to.have.length(2);
  });

  it("ask nothing of a destination that is no action, or another account's", async () => {
    const body = { redis_stream: { url: "redis://127.0.0.1:1", stream: "events" } };
    const { id: stream } = await api.expect(201, "POST", "/destinations", { body });
    const { id } = await create({ component_code: CODE, configured_props: { to: "x" } });
    const stranger = await system.user();
    for (const [by, of] of [
      [api, stream],
      [stranger, id],
    ] as const) {
      for (const path of ["configure", "props"]) {
        const asked = { body: { ...(path === "configure" && { prop_name: "kind" }) } };
        const { status } = await by.request("POST", `/destinations/${of}/${path}`, asked);
        expect(status, path).to.equal(404);
      }
    }
  });

  it("are 404 for other accounts, and keep their component from being deleted", async () => {
    const { id, action } = await create({ component_code: CODE, configured_props: { to: "x" } });
    const stranger = await system.user();
    for (const method of ["GET", "DELETE"]) {
      expect((await stranger.request(method, `/destinations/${id}`)).status).to.equal(404);
    }
    const put = await stranger.request("PUT", `/destinations/${id}`, { body: { action: { key: "note" } } });
    expect(put.status).to.equal(404);
    const own = await stranger.request("POST", "/destinations", {
      body: { action: { component_id: action.component_id } },
    });
    expect(own.status).to.equal(404);
    const path = `/components/${action.component_id}`;
    expect((await api.request("DELETE", path)).status).to.equal(409);
    const rows = await api.expect(200, "GET", "/users/me/destinations", { query: { limit: 100 } });
    for (const row of rows as { id: string }[]) await api.expect(204, "DELETE", `/destinations/${row.id}`);
    await api.expect(204, "DELETE", path);
  });

  it("accept a connection of the account, and no other", async () => {
    const connection = async (by: Api) =>
      (await by.expect(201, "POST", "/connections", { body: { app: "notes", fields: { token: "s3cret" } } }))
        .id;
    const mine = await connection(api);
    const props = (id: string) => ({ app: { authProvisionId: id }, to: "x" });
    const created = await create({ component_code: CODE, configured_props: props(mine) });
    expect(created.action.configured_props).to.deep.include({ app: { authProvisionId: mine } });
    expect((await api.request("DELETE", `/connections/${mine}`)).status).to.equal(409);
    const theirs = await connection(await system.user());
    expect(await rejected({ component_code: CODE, configured_props: props(theirs) })).to.deep.equal([
      ["action.configured_props.app.authProvisionId", `the account has no connection ${theirs}`],
    ]);
  });
});
