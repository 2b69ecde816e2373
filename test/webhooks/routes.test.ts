import { expect } from "chai";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { AutoSubscriptions, Subscriptions } from "../../src/models/subscription.ts";
import { Webhooks } from "../../src/models/webhook.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { type Api, CALLERS, openWebhookApi } from "./webhook-api.ts";

const URL = "https://example.com/hook";

describe("the webhooks API", () => {
  let platform: TestPlatform;
  let api: Api;

  before(async () => {
    platform = await openTestPlatform({}, { process: "web" });
    api = await openWebhookApi(platform);
  });
  after(async () => {
    await api.close();
    await platform.destroy();
  });

  const create = async (query = "", body?: unknown) => {
    const path = `/webhooks?url=${encodeURIComponent(URL)}${query}`;
    const response = await api.call("POST", path, body === undefined ? {} : { body });
    expect(response.status, JSON.stringify(response.body)).to.equal(201);
    return response.body.data;
  };
  const get = async (id: string) => (await api.call("GET", `/webhooks/${id}`)).body.data;
  const setFields = (id: string, set: object) =>
    Webhooks(platform.mongo).updateOne({ _id: id }, { $set: set });

  it("creates a webhook from query parameters, and returns its signing key", async () => {
    const created = await create("&name=orders&description=All%20of%20them");
    expect(created).to.include({
      user_id: CALLERS.ann?.userId,
      name: "orders",
      description: "All of them",
      url: URL,
      active: true,
      disabled_reason: null,
    });
    expect(created.id).to.match(/^wh_[A-Za-z0-9]{16}$/);
    expect(created.signing_key).to.match(/^whsec_/);
    expect(created.created_at).to.be.a("number");
  });

  it("creates a webhook from a JSON body; name and description are null by default", async () => {
    const { status, body } = await api.call("POST", "/webhooks", { body: { url: URL } });
    expect(status).to.equal(201);
    expect(body.data).to.include({ name: null, description: null, url: URL });
  });

  it("rejects a url with control characters or blanks around it, when it is created and when it is changed", async () => {
    const { id } = (await api.call("POST", "/webhooks", { body: { url: URL } })).body.data;
    for (const url of ["\r\nx", "\n", "\t", "\0", "\x7f", " "].map(end => `https://example.com/a${end}`)) {
      for (const [method, path, body] of [
        ["POST", "/webhooks", { url }],
        ["POST", `/webhooks?url=${encodeURIComponent(url)}`, undefined],
        ["PUT", `/webhooks/${id}`, { url }],
      ] as const) {
        const response = await api.call(method, path, { body });
        expect(response.status, `${method} ${JSON.stringify(url)}`).to.equal(400);
        expect(response.body.errors.map((error: { path: string }) => error.path)).to.deep.equal(["url"]);
      }
    }
    expect((await api.call("GET", `/webhooks/${id}`)).body.data.url).to.equal(URL);
  });

  it("rejects an invalid url, values that are too long, and unknown fields by name", async () => {
    for (const [body, path] of [
      [{}, "url"],
      [{ url: "ftp://example.com" }, "url"],
      [{ url: "http://10.0.0.1/" }, "url"],
      [{ url: `https://example.com/${"x".repeat(LIMITS.urlCharacters.value)}` }, "url"],
      [{ url: URL, name: "x".repeat(257) }, "name"],
      [{ url: URL, description: "x".repeat(1025) }, "description"],
      [{ url: URL, nmae: "x" }, "nmae"],
      [{ url: URL, headers: { host: "x" } }, "headers.host"],
    ] as const) {
      const response = await api.call("POST", "/webhooks", { body });
      expect(response.status, path).to.equal(400);
      expect(response.body.errors.map((error: { path: string }) => error.path)).to.include(path);
    }
  });

  it("shows the key once, shows only the names of custom headers, and stores both encrypted", async () => {
    const created = await create("", { headers: { Authorization: "Bearer s3cret" } });
    expect(created.header_names).to.deep.equal(["authorization"]);
    const shown = await get(created.id);
    expect(shown).not.to.have.property("signing_key");
    expect(shown.header_names).to.deep.equal(["authorization"]);
    const stored = JSON.stringify(await Webhooks(platform.mongo).findById(created.id).lean());
    expect(stored).not.to.match(/s3cret|whsec_/);
  });

  it("signs with a key of the caller's, which only the body may have", async () => {
    const keyOf = (bytes: number) => `whsec_${Buffer.alloc(bytes, 7).toString("base64")}`;
    for (const bytes of [24, 32, 64]) {
      const created = await create("", { signing_key: keyOf(bytes) });
      expect(created.signing_key).to.equal(keyOf(bytes));
      const stored = await Webhooks(platform.mongo).findById(created.id).lean();
      expect(platform.secrets.open(stored?.signing_keys[0]?.sealed ?? "")).to.equal(keyOf(bytes));
    }
    const { id } = await create();
    for (const signing_key of [
      ...[keyOf(23), keyOf(65), keyOf(32).slice(6), keyOf(32).replace("whsec", "whsk")],
      ...[keyOf(32).replace("=", ""), `${keyOf(24)}\n`, keyOf(24).replace("B", "-"), "whsec_", ""],
    ]) {
      for (const path of ["/webhooks", `/webhooks/${id}/rotate_signing_key`]) {
        const body = { signing_key, ...(path === "/webhooks" && { url: URL }) };
        const response = await api.call("POST", path, { body });
        expect(response.status, signing_key).to.equal(400);
        expect(response.body.errors[0]).to.deep.equal({
          in: "body",
          path: "signing_key",
          message: "must be whsec_ and the base64 of 24 to 64 bytes",
        });
      }
    }
    const query = `?url=${encodeURIComponent(URL)}&signing_key=${encodeURIComponent(keyOf(32))}`;
    const inQuery = await api.call("POST", `/webhooks${query}`);
    expect(inQuery.status).to.equal(400);
    expect(inQuery.body.errors[0]).to.include({ in: "query", path: "signing_key" });
  });

  it("replaces the key by one of the caller's, as often as the request is repeated", async () => {
    const { id, signing_key: old } = await create();
    const signing_key = `whsec_${Buffer.alloc(40, 5).toString("base64")}`;
    for (let i = 0; i < 2; i++) {
      const rotated = await api.call("POST", `/webhooks/${id}/rotate_signing_key`, { body: { signing_key } });
      expect(rotated.status).to.equal(200);
      expect(rotated.body.data.signing_key).to.equal(signing_key);
    }
    const stored = await Webhooks(platform.mongo).findById(id).lean();
    expect(stored?.signing_keys.map(({ sealed }) => platform.secrets.open(sealed))).to.deep.equal([
      signing_key,
      old,
    ]);
  });

  it("has a key pair with ed25519, of which only the public part is shown", async () => {
    const created = await create("", { signing: "ed25519" });
    expect(created.public_key).to.match(/^whpk_[A-Za-z0-9+/]{43}=$/);
    expect(created).to.include({ signing: "ed25519", signing_key: created.public_key });
    expect(await get(created.id)).to.include({ signing: "ed25519", public_key: created.public_key });
    const own = `whsec_${Buffer.alloc(32).toString("base64")}`;
    const both = await api.call("POST", "/webhooks", {
      body: { url: URL, signing: "ed25519", signing_key: own },
    });
    expect(both.body.errors[0]).to.include({ in: "body", path: "signing_key" });
    expect(await create()).to.include({ signing: "hmac", public_key: null });
  });

  it("goes over to ed25519 and back by rotations, which keep the kind unless another is wanted", async () => {
    const { id } = await create();
    const rotate = async (body: object) =>
      (await api.call("POST", `/webhooks/${id}/rotate_signing_key`, { body })).body.data;
    const first = await rotate({ signing: "ed25519" });
    expect(first).to.include({ signing: "ed25519", signing_key: first.public_key });
    const second = await rotate({});
    expect(second.signing).to.equal("ed25519");
    expect(second.public_key).not.to.equal(first.public_key);
    const back = await rotate({ signing: "hmac" });
    expect(back).to.include({ signing: "hmac", public_key: null });
    expect(back.signing_key).to.match(/^whsec_/);
    const stored = await Webhooks(platform.mongo).findById(id).lean();
    const kinds = stored?.signing_keys.map(({ sealed }) => platform.secrets.open(sealed).split("_")[0]);
    expect(kinds).to.deep.equal(["whsec", "whsk", "whsk", "whsec"]);
    expect(JSON.stringify(stored)).not.to.match(/whsk_|whsec_/);
  });

  it("lists the webhooks of a user newest first, in pages", async () => {
    const ids = [];
    for (let i = 0; i < 3; i++) ids.unshift((await create()).id);
    const first = await api.call("GET", "/users/me/webhooks?limit=2");
    expect(first.body.data.map((one: { id: string }) => one.id)).to.deep.equal(ids.slice(0, 2));
    const next = await api.call("GET", `/users/me/webhooks?limit=1&after=${first.body.page_info.end_cursor}`);
    expect(next.body.data[0].id).to.equal(ids[2]);
    expect(next.body.page_info.total_count).to.be.at.least(3);
  });

  it("lists the webhooks of an organization separately from those of its members", async () => {
    const created = await api.call("POST", `/webhooks?url=${URL}&org_id=o_red0000000000000`);
    const { id } = created.body.data;
    const listed = async (path: string) =>
      (await api.call("GET", path)).body.data.map((one: { id: string }) => one.id);
    expect(await listed("/orgs/o_red0000000000000/webhooks")).to.deep.equal([id]);
    expect(await listed("/users/me/webhooks?limit=100")).not.to.include(id);
    expect((await api.call("GET", `/webhooks/${id}`)).status).to.equal(200);
  });

  it("responds 404 to every other account", async () => {
    const { id } = await create();
    for (const [method, path] of [
      ["GET", `/webhooks/${id}`],
      ["PUT", `/webhooks/${id}`],
      ["DELETE", `/webhooks/${id}`],
      ["POST", `/webhooks/${id}/rotate_signing_key`],
      ["POST", `/webhooks/${id}/test`],
      ["GET", `/webhooks/${id}/deliveries`],
    ] as const) {
      expect((await api.call(method, path, { as: "eve" })).status, `${method} ${path}`).to.equal(404);
    }
    const recover = await api.call("POST", `/webhooks/${id}/recover`, { as: "eve", body: { since: 0 } });
    expect(recover.status).to.equal(404);
    expect((await api.call("GET", "/orgs/o_red0000000000000/webhooks", { as: "eve" })).status).to.equal(404);
    expect((await get(id)).id).to.equal(id);
  });

  it("changes the given fields and leaves the others unchanged", async () => {
    const { id } = await create("&name=old", { headers: { "x-a": "1" } });
    const put = (body: unknown) => api.call("PUT", `/webhooks/${id}`, { body });
    expect((await put({ description: "new" })).body.data).to.include({ name: "old", description: "new" });
    expect((await put({ name: null })).body.data.name).to.equal(null);
    expect((await put({ headers: { "x-b": "2" } })).body.data.header_names).to.deep.equal(["x-b"]);
    expect((await put({ headers: null })).body.data.header_names).to.deep.equal([]);
    expect((await put({ url: "https://example.org/" })).body.data.url).to.equal("https://example.org/");
    const rejected = await put({ url: "nonsense" });
    expect(rejected.status).to.equal(400);
    expect(rejected.body.errors[0]).to.include({ in: "body", path: "url" });
  });

  it("clears disabled_reason and failing_since when a webhook is enabled", async () => {
    const { id } = await create();
    await setFields(id, {
      active: false,
      disabled_reason: "the endpoint returned 410 Gone",
      failing_since_ms: 5000,
    });
    expect(await get(id)).to.include({
      active: false,
      disabled_reason: "the endpoint returned 410 Gone",
      failing_since: 5,
    });
    const renamed = await api.call("PUT", `/webhooks/${id}`, { body: { name: "still off" } });
    expect(renamed.body.data).to.include({ active: false, failing_since: 5 });
    const enabled = await api.call("PUT", `/webhooks/${id}`, { body: { active: true } });
    expect(enabled.body.data).to.include({ active: true, disabled_reason: null, failing_since: null });
  });

  it("clears failing_since for a different url only", async () => {
    const { id } = await create();
    await setFields(id, { failing_since_ms: 5000 });
    await api.call("PUT", `/webhooks/${id}`, { body: { url: URL } });
    expect((await get(id)).failing_since).to.equal(5);
    await api.call("PUT", `/webhooks/${id}`, { body: { url: "https://example.org/" } });
    expect((await get(id)).failing_since).to.equal(null);
  });

  it("replaces the signing key with a new one at each rotation", async () => {
    const created = await create();
    const rotate = () => api.call("POST", `/webhooks/${created.id}/rotate_signing_key`);
    const first = await rotate();
    expect(first.status).to.equal(200);
    const keys = [created.signing_key, first.body.data.signing_key, (await rotate()).body.data.signing_key];
    expect(new Set(keys).size).to.equal(3);
    const raced = await Promise.all([rotate(), rotate(), rotate(), rotate()]);
    const stored = await Webhooks(platform.mongo).findById(created.id).lean();
    const valid = new Set(stored?.signing_keys.map(key => platform.secrets.open(key.sealed)));
    for (const { status, body } of raced) {
      if (status === 200) expect(valid.has(body.data.signing_key)).to.equal(true);
      else expect(status).to.equal(409);
    }
  });

  it("deletes a webhook with the subscriptions that name it", async () => {
    const { id } = await create();
    const { id: other } = await create();
    const row = (listener_id: string) => ({
      _id: `sub_${listener_id}`,
      owner_id: "u_1",
      user_id: "u_1",
      listener_id,
      event_name: "$errors",
      created_at: 0,
    });
    for (const listener of [id, other]) {
      await Subscriptions(platform.mongo).insertOne({ ...row(listener), emitter_id: "dc_*", filter: null });
      await AutoSubscriptions(platform.mongo).insertOne(row(listener));
    }
    expect(await api.call("DELETE", `/webhooks/${id}`)).to.deep.equal({ status: 204, body: null });
    expect((await api.call("GET", `/webhooks/${id}`)).status).to.equal(404);
    const subscriptions = await Subscriptions(platform.mongo).find({}).lean();
    const autoSubscriptions = await AutoSubscriptions(platform.mongo).find({}).lean();
    for (const left of [subscriptions, autoSubscriptions]) {
      expect(left.map(one => one.listener_id)).to.deep.equal([other]);
    }
  });
});
