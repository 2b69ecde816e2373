import { expect } from "chai";
import { newId } from "../../src/lib/ids.ts";
import { Subscriptions } from "../../src/models/subscription.ts";
import { createWorkflow } from "../../src/workflows/workflows.ts";
import { openWorld } from "./open-world.ts";
import { isIdOf, isRecent, names, rejected } from "./shapes.ts";
import { type Owner, thing } from "./things.ts";

type Query = Record<string, string>;

/** docs/rest-api.md#subscriptions */
describe("subscriptions", () => {
  let world: Awaited<ReturnType<typeof openWorld>>;
  let api: Owner["api"];
  let source: string;
  let webhook: string;

  before(async () => {
    world = await openWorld();
  });
  beforeEach(async () => {
    api = await world.system.user();
    source = await thing("source").make(world, { api });
    webhook = await thing("webhook").make(world, { api });
  });
  after(() => world.close());

  const post = (query: Query) => api.request("POST", "/subscriptions", { query });
  const end = (query: Query) => api.request("DELETE", "/subscriptions", { query });
  const auto = (query: Query) => api.request("POST", "/auto_subscriptions", { query });
  const list = async (path = "/users/me/subscriptions") => {
    const { status, body } = await api.request("GET", path);
    expect(status).to.equal(200);
    expect(body).to.have.all.keys("data");
    return body.data as { id: string; emitter_id: string; listener_id: string; event_name: string }[];
  };

  it("says of a wrong id whether it was given in the query or in the body", async () => {
    const ids = { emitter_id: "wh_x", listener_id: "x" };
    for (const [where, request] of [
      ["query", { query: ids }],
      ["body", { body: ids }],
    ] as const) {
      const { status, body } = await api.request("POST", "/subscriptions", request);
      expect([status, body.errors[0].in, body.errors[0].path]).to.deep.equal([400, where, "emitter_id"]);
    }
  });

  it("are created with 200, and returned unchanged if they exist", async () => {
    const first = await post({ emitter_id: source, listener_id: webhook });
    expect(first.status).to.equal(200);
    const { id, ...rest } = first.body.data;
    isIdOf("sub", id);
    const shown = { emitter_name: "thing", listener_name: null, revision: 1 };
    expect(rest).to.deep.equal({ emitter_id: source, listener_id: webhook, event_name: "", ...shown });
    const again = await post({ emitter_id: source, listener_id: webhook, event_name: "" });
    expect([again.status, again.body]).to.deep.equal([200, first.body]);
    const channel = await post({ emitter_id: source, listener_id: webhook, event_name: "news" });
    expect(channel.body.data).to.include({ event_name: "news" }).and.property("id").not.equal(id);
    expect(await list()).to.deep.equal([channel.body.data, first.body.data]);
  });

  it("accept workflows, sources, globs and organizations as emitters, and all three kinds of listeners", async () => {
    const flow = await thing("workflow").make(world, { api });
    const org_id = await world.system.organization(api.userId);
    for (const emitter_id of [source, flow, "p_*", "dc_*", org_id]) {
      for (const listener_id of [webhook, source, flow]) {
        expect((await post({ emitter_id, listener_id })).status, emitter_id).to.equal(200);
      }
    }
    expect(await list()).to.have.length(15);
  });

  it("are rejected by name for an invalid emitter, listener or channel", async () => {
    for (const emitter_id of ["x", "wh_*", "*", "dc_", webhook, `${source}x`, "$errors"]) {
      names(await post({ emitter_id, listener_id: webhook }), "query emitter_id");
    }
    for (const listener_id of ["x", "dc_*", "p_*", "u_0000000000000000"]) {
      names(await post({ emitter_id: source, listener_id }), "query listener_id");
    }
    for (const event_name of ["$other", "$", "$errors ", "x".repeat(129), "a\nb"]) {
      names(await post({ emitter_id: source, listener_id: webhook, event_name }), "query event_name");
    }
    names(await post({}), "query emitter_id", "query listener_id");
    names(await end({ emitter_id: source }), "query listener_id");
    rejected(await post({ emitter_id: "dc_0000000000000000", listener_id: webhook }), 404);
    rejected(await post({ emitter_id: source, listener_id: "wh_0000000000000000" }), 404);
    rejected(await post({ emitter_id: "o_0000000000000000", listener_id: webhook }), 404);
  });

  it("are deleted by their channel, event_name= for the default channel", async () => {
    const of = { emitter_id: source, listener_id: webhook };
    for (const event_name of ["", "news", "$errors"]) await post({ ...of, event_name });
    rejected(await end({ ...of, event_name: "$logs" }), 404);
    const { baseUrl, apiKey } = api;
    const literal = await fetch(
      `${baseUrl}/subscriptions?emitter_id=${source}&listener_id=${webhook}&event_name=`,
      { method: "DELETE", headers: { authorization: `Bearer ${apiKey}` } },
    );
    expect([literal.status, await literal.text()]).to.deep.equal([204, ""]);
    rejected(await end({ ...of, event_name: "" }), 404);
    expect((await end({ ...of, event_name: "$errors" })).status).to.equal(204);
    expect((await list()).map(row => row.event_name)).to.deep.equal(["news"]);
    await post(of);
    expect((await end(of)).status).to.equal(204);
  });

  it("are deleted with the webhook that they name", async () => {
    await post({ emitter_id: source, listener_id: webhook });
    await api.expect(204, "DELETE", `/webhooks/${webhook}`);
    expect(await list()).to.deep.equal([]);
  });

  it("of an organization are listed there, and deleted with or without org_id", async () => {
    const org_id = await world.system.organization(api.userId);
    const owner = { api, orgId: org_id };
    const of = {
      emitter_id: await thing("source").make(world, owner),
      listener_id: await thing("webhook").make(world, owner),
    };
    const { body } = await post({ ...of, org_id });
    expect(await list(`/orgs/${org_id}/subscriptions`)).to.deep.equal([body.data]);
    expect(await list()).to.deep.equal([]);
    expect((await end({ ...of, org_id })).status).to.equal(204);
    await post({ ...of, org_id });
    expect((await end(of)).status).to.equal(204);
    rejected(await post({ emitter_id: source, listener_id: of.listener_id, org_id }), 404);
  });

  it("of the user are deleted before those of an organization", async () => {
    const org_id = await world.system.organization(api.userId);
    const owner = { api, orgId: org_id };
    const of = {
      emitter_id: await thing("source").make(world, owner),
      listener_id: await thing("webhook").make(world, owner),
    };
    await post({ ...of, org_id });
    await post(of);
    expect((await end(of)).status).to.equal(204);
    expect(await list()).to.deep.equal([]);
    expect(await list(`/orgs/${org_id}/subscriptions`)).to.have.length(1);
  });

  it("of several organizations are deleted only with org_id", async () => {
    const [red, blue] = [
      await world.system.organization(api.userId),
      await world.system.organization(api.userId),
    ];
    const of = { emitter_id: "dc_*", listener_id: webhook };
    for (const owner_id of [red, blue]) {
      const row = { ...of, owner_id, user_id: api.userId, event_name: "", filter: null, created_at: 0 };
      await Subscriptions(world.system.web.mongo).insertOne({ ...row, _id: newId("sub") });
    }
    const { detail } = rejected(await end(of), 409);
    expect(detail).to.include(red).and.include(blue);
    expect((await end({ ...of, org_id: red })).status).to.equal(204);
    expect((await end(of)).status).to.equal(204);
    rejected(await end(of), 404);
  });

  it("have a filter, which is checked, and replaced by a new one", async () => {
    const query = { emitter_id: source, listener_id: webhook };
    const subscribeWith = (filter: unknown) =>
      api.request("POST", "/subscriptions", { query, body: { filter } });
    const first = await subscribeWith({ "a.b": { $gt: 1 } });
    expect(first.body.data.filter).to.deep.equal({ "a.b": { $gt: 1 } });
    expect((await post(query)).body.data.filter, "unchanged").to.deep.equal({ "a.b": { $gt: 1 } });
    expect((await subscribeWith({ a: 1 })).body.data).to.deep.include({
      id: first.body.data.id,
      filter: { a: 1 },
    });
    for (const [filter, path] of [
      [{ $where: "1" }, "filter.$where"],
      [{ a: { $regex: "x" } }, "filter.a.$regex"],
      [{ $and: [] }, "filter.$and"],
      ["x", "filter"],
    ]) {
      names(await subscribeWith(filter), `body ${path}`);
    }
  });

  it("are changed by their id, whichever account of the caller has them", async () => {
    const org_id = await world.system.organization(api.userId);
    const owner = { api, orgId: org_id };
    const of = {
      emitter_id: await thing("source").make(world, owner),
      listener_id: await thing("webhook").make(world, owner),
    };
    const { id } = (await post({ ...of, org_id })).body.data;
    const code = "export default event => event;";
    const put = (body: object, query: Query = {}) =>
      api.request("PUT", `/subscriptions/${id}`, { query, body });
    const changed = await put({ filter: { a: 1 }, function: code });
    expect(changed.status).to.equal(200);
    expect(changed.body.data).to.deep.include({ ...of, id, org_id, filter: { a: 1 }, function: code });
    expect((await put({ filter: { a: 1 }, function: code })).body, "once more").to.deep.equal(changed.body);
    expect(await api.expect(200, "GET", `/subscriptions/${id}`)).to.deep.equal(changed.body.data);
    expect((await put({ filter: null })).body.data)
      .to.include({ function: code })
      .and.not.property("filter");
    expect((await put({ function: null }, { org_id })).body.data).to.deep.equal({
      ...{ ...of, id, org_id, event_name: "", emitter_name: "thing", listener_name: null, revision: 4 },
    });
    expect(await list(), "none of the user's own").to.deep.equal([]);
    expect(await list(`/orgs/${org_id}/subscriptions`)).to.have.length(1);

    for (const [body, path] of [
      [{ filter: { $where: "1" } }, "filter.$where"],
      [{ filter: "x" }, "filter"],
      [{ function: "" }, "function"],
      [{ function: "export default 7;" }, "function"],
      [{ listener_id: of.listener_id }, "listener_id"],
      [{ event_name: "news" }, "event_name"],
    ] as const) {
      names(await put(body), `body ${path}`);
    }
    const stranger = await world.system.user();
    rejected(await stranger.request("PUT", `/subscriptions/${id}`, { body: { filter: null } }), 404);
    const other = await world.system.organization(api.userId);
    rejected(await put({ filter: { b: 2 } }, { org_id: other }), 404);
  });

  describe("from auto subscriptions", () => {
    it("are created for sources and workflows created afterwards only", async () => {
      const made = await auto({ event_name: "$errors", listener_id: webhook });
      expect(made.status).to.equal(200);
      expect(made.body.data).to.include({ event_name: "$errors", listener_id: webhook });
      expect((await auto({ event_name: "$errors", listener_id: webhook })).body).to.deep.equal(made.body);
      await auto({ event_name: "$logs", listener_id: webhook });
      expect(await list()).to.deep.equal([]);

      const later = await thing("source").make(world, { api });
      const { id: flow } = await createWorkflow(world.system.worker, { ownerId: api.userId, name: "Later" });
      const rows = (await list()).map(row => [row.emitter_id, row.event_name, row.listener_id]);
      expect(rows).to.have.deep.members([
        ...[later, flow].flatMap(id => [
          [id, "$errors", webhook],
          [id, "$logs", webhook],
        ]),
      ]);
      expect((await end({ emitter_id: later, listener_id: webhook, event_name: "$errors" })).status).to.equal(
        204,
      );
    });

    it("of an organization are created for its own sources only", async () => {
      const org_id = await world.system.organization(api.userId);
      const owner = { api, orgId: org_id };
      const shared = await thing("webhook").make(world, owner);
      expect((await auto({ event_name: "$errors", listener_id: shared, org_id })).status).to.equal(200);
      await thing("source").make(world, { api });
      const inOrg = await thing("source").make(world, owner);
      expect((await list(`/orgs/${org_id}/subscriptions`)).map(row => row.emitter_id)).to.deep.equal([inOrg]);
      expect(await list()).to.deep.equal([]);
    });

    it("are rejected for channels other than $errors and $logs, and for an invalid listener", async () => {
      for (const event_name of ["", "news", "$other"]) {
        names(await auto({ event_name, listener_id: webhook }), "query event_name");
      }
      names(await auto({}), "query event_name", "query listener_id");
      names(await auto({ event_name: "$errors", listener_id: "dc_*" }), "query listener_id");
      rejected(await auto({ event_name: "$errors", listener_id: "wh_0000000000000000" }), 404);
    });
  });
});

/** docs/rest-api.md#webhooks */
describe("webhooks", () => {
  let world: Awaited<ReturnType<typeof openWorld>>;
  let api: Owner["api"];
  before(async () => {
    world = await openWorld();
    api = await world.system.user();
  });
  after(() => world.close());

  it("are created with a signing key, which is never shown again", async () => {
    const query = { url: "https://example.com:8443/a/b?c=d", name: "n", description: "d" };
    const { signing_key, ...webhook } = await api.expect(201, "POST", "/webhooks", { query });
    isIdOf("wh", webhook.id);
    expect(webhook).to.include({ ...query, user_id: api.userId, active: true });
    isRecent(webhook.created_at);
    isRecent(webhook.updated_at);
    expect(signing_key).to.match(/^whsec_[A-Za-z0-9+/]{32,}=*$/);
    expect(await api.expect(200, "GET", `/webhooks/${webhook.id}`)).to.deep.equal(webhook);
    expect((await api.expect(200, "GET", "/users/me/webhooks"))[0]).to.deep.equal(webhook);
    const bare = await api.expect(201, "POST", "/webhooks", { body: { url: "http://example.com" } });
    expect(bare).to.include({ name: null, description: null, url: "http://example.com" });
  });

  it("need an http or https url with a host name, optionally with a port and a path", async () => {
    for (const url of [
      "http://example.com",
      "https://example.com/",
      "https://a.b-c.example:1/x?y=z#w",
      "HTTP://Example.com/x",
    ]) {
      expect((await api.request("POST", "/webhooks", { query: { url } })).status, url).to.equal(201);
    }
    const bad = [
      "ftp://example.com/x",
      "example.com/x",
      "//example.com",
      "/x",
      "http://",
      "https:///x",
      "http:example.com",
    ];
    const worse = [
      "https://user:secret@example.com",
      "http://a b.example",
      "javascript:alert(1)",
      "",
      "http://10.0.0.1/",
      "http://[::ffff:a00:1]/",
    ];
    for (const url of [...bad, ...worse]) {
      names(await api.request("POST", "/webhooks", { query: { url } }), "query url");
    }
    names(await api.request("POST", "/webhooks"), "query url");
  });

  it("have deliveries, filtered by state and by any time", async () => {
    const delivery = await thing("delivery").make(world, { api });
    const { webhook_id, created_at } = await api.expect(200, "GET", `/deliveries/${delivery}`);
    const found = async (query: Record<string, string | number>) =>
      (await api.expect(200, "GET", `/webhooks/${webhook_id}/deliveries`, { query })).length;
    const [now, never] = [created_at, 32_503_680_000];
    expect(await found({ state: "pending", since: now - 60, until: now + 60 })).to.equal(1);
    expect(await found({ since: 0, until: never })).to.equal(1);
    const others: Record<string, string | number>[] = [
      { state: "failed" },
      { since: now + 60 },
      { since: never },
      { until: now - 60 },
      { until: 0 },
    ];
    for (const query of others) {
      expect(await found(query), JSON.stringify(query)).to.equal(0);
    }
    for (const [name, invalid] of [
      ["state", "lost"],
      ["since", -1],
      ["until", never + 1],
      ["since", "yesterday"],
    ] as const) {
      names(
        await api.request("GET", `/webhooks/${webhook_id}/deliveries`, { query: { [name]: invalid } }),
        `query ${name}`,
      );
    }
  });

  it("of an organization are created with org_id and listed there", async () => {
    const org_id = await world.system.organization(api.userId);
    const { id } = await api.createWebhook("https://example.com", { org_id });
    for (const [path, query] of [
      [`/orgs/${org_id}/webhooks`, {}],
      ["/users/me/webhooks", { org_id }],
    ] as const) {
      const rows = await api.expect(200, "GET", path, { query });
      expect(
        rows.map((row: { id: string }) => row.id),
        path,
      ).to.deep.equal([id]);
    }
    const own = await api.expect(200, "GET", "/users/me/webhooks", { query: { limit: 100 } });
    expect(own.map((row: { id: string }) => row.id)).not.to.include(id);
  });
});
