import { expect } from "chai";
import { addMember } from "../../src/accounts/organizations.ts";
import { publishComponent } from "../../src/components/components.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { CodeHistories } from "../../src/models/code-history.ts";
import { Bundles, Components } from "../../src/models/component.ts";
import { Sources } from "../../src/models/source.ts";
import type { Api, SourceView } from "../support/api.ts";
import { sweepAll } from "../support/sweep.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";

const SECRET = "s3cret-token";

/** Code that emits a word; `more` is what else its component has. */
const code = (word: string, { props = "", more = "" } = {}) =>
  `export default { name: "Versioned", version: "${word}", props: { http: "$.interface.http", ${props} }, ${more}
  run() { this.$emit({ word: ${JSON.stringify(word)}, token: this.token }); } };`;

const TOKEN = 'token: { type: "string", secret: true }';
const hooksOf = (word: string) => `hooks: {
  async activate() { if (this.failing === "yes") throw new Error("not now"); this.$emit({ hook: "activate ${word}" }); },
  async deactivate() { this.$emit({ hook: "deactivate ${word}" }); },
},`;

/** docs/rest-api.md#versions-of-a-sources-code */
describe("the versions of a source's code", () => {
  let system: System;
  let api: Api & { userId: string };
  before(async () => {
    system = await startSystem();
    api = await system.user();
  });
  after(() => system.stop());

  const put = (id: string, body: object, by: Api = api) => by.request("PUT", `/sources/${id}`, { body });
  const versions = (id: string, by: Api = api) =>
    by.expect(200, "GET", `/sources/${id}/versions`, { query: { limit: 100 } });
  const restore = (id: string, number: number, body: object = {}, by: Api = api) =>
    by.request("POST", `/sources/${id}/versions/${number}/restore`, { body });
  const numbers = async (id: string) => (await versions(id)).map(({ number }: { number: number }) => number);
  const history = (id: string) => CodeHistories(system.worker.mongo).findById(id).lean();
  /** What the source emits on a request. */
  const emittedNow = async (source: SourceView) => {
    const before = (await api.summaries(source.id)).length;
    await fetch(source.configured_props.http?.endpoint_url ?? "", { method: "POST" });
    return await until(async () => {
      const found = await api.summaries(source.id);
      return found.length > before && found[0]?.event.raw_event;
    });
  };

  it("are one for its deployment and for each change of its code, with who, when and how", async () => {
    const source = await api.createSource({ component_code: code("one"), comment: "the first" });
    await put(source.id, { name: "renamed", configured_props: { http: null } });
    await put(source.id, { component_code: code("one") });
    expect(await numbers(source.id)).to.deep.equal([1]);
    const { id: saved } = await api.expect(201, "POST", "/components", {
      body: { component_code: code("two", { more: 'key: "two-by-key",' }) },
    });
    expect((await put(source.id, { key: "two-by-key" })).status).to.equal(200);
    const files = { "main.mjs": code("three") };
    expect((await put(source.id, { files, entry: "main.mjs" })).status).to.equal(200);
    const { id: keyId } = (await api.expect(200, "GET", "/api_keys"))[0];
    const { username } = await api.expect(200, "GET", "/users/me");
    const [third, second, first] = await versions(source.id);
    const who = { user_id: api.userId, username, key_id: keyId, restored_from: null, can_restore: true };
    expect(third).to.deep.include({ ...who, number: 3, from: "files", comment: null, is_current: true });
    expect(second).to.deep.include({
      ...who,
      number: 2,
      from: "key",
      component_id: saved,
      is_current: false,
    });
    expect(first).to.deep.include({ ...who, number: 1, from: "component_code", comment: "the first" });
    expect(first).to.deep.include({ component_id: source.component_id, component_version: "one" });
    expect(first.code_hash).to.match(/^[0-9a-f]{64}$/);
    expect(first.created_at).to.be.closeTo(Date.now() / 1000, 60);
  });

  it("have their code, and one that is not kept is not found", async () => {
    const source = await api.createSource({ component_code: code("plain") });
    const files = { "app/main.mjs": 'export { default } from "./real.mjs";', "app/real.mjs": code("files") };
    await put(source.id, { files, entry: "app/main.mjs" });
    const read = (number: number | string) => api.request("GET", `/sources/${source.id}/versions/${number}`);
    const [plain, several] = [await read(1), await read(2)];
    expect(plain.body.data).to.deep.include({ number: 1, code: code("plain"), files: {}, entry: null });
    expect(several.body.data).to.deep.include({ number: 2, files, entry: "app/main.mjs" });
    for (const absent of [3, 0, "x", "1.5", "9999999999"]) {
      expect((await read(absent)).status, String(absent)).to.equal(404);
    }
    const stranger = await system.user();
    for (const path of ["", "/1"]) {
      expect((await stranger.request("GET", `/sources/${source.id}/versions${path}`)).status).to.equal(404);
    }
    expect((await restore(source.id, 1, {}, stranger)).status).to.equal(404);
  });

  it(`are kept until there are ${LIMITS.codeVersions.value} later ones, and their numbers go on`, async () => {
    const source = await api.createSource({ component_code: code("old") });
    const most = LIMITS.codeVersions.value;
    const [first] = (await history(source.id))?.versions ?? [];
    const full = Array.from({ length: most }, (_, at) => ({ ...first, number: at + 1 }));
    await CodeHistories(system.worker.mongo).updateOne(
      { _id: source.id },
      { $set: { versions: full as never } },
    );
    await put(source.id, { component_code: code("new") });
    expect(await numbers(source.id)).to.deep.equal(Array.from({ length: most }, (_, at) => most + 1 - at));
    expect((await history(source.id))?.versions).to.have.length(most);
    const long = "x".repeat(LIMITS.versionCommentCharacters.value);
    expect((await put(source.id, { component_code: code("newer"), comment: long })).status).to.equal(200);
    const { status, body } = await put(source.id, { component_code: code("old"), comment: `${long}x` });
    expect([status, body.errors[0].path]).to.deep.equal([400, "comment"]);
  });

  it("are kept of code with hooks, unless the hooks fail @long", async () => {
    const failing = "failing: { type: 'string', optional: true }";
    const hooked = (word: string) => code(word, { props: failing, more: hooksOf(word) });
    const kept = () => CodeHistories(system.worker.mongo).countDocuments();
    const before = await kept();
    const rejected = await api.request("POST", "/sources", {
      body: { component_code: hooked("first"), configured_props: { failing: "yes" } },
    });
    expect([rejected.status, await kept()]).to.deep.equal([400, before]);
    const source = await api.createSource({ component_code: hooked("first"), comment: "hooked" });
    expect((await versions(source.id))[0]).to.include({ number: 1, user_id: api.userId, comment: "hooked" });
    expect((await put(source.id, { component_code: hooked("second"), comment: "again" })).status).to.equal(
      200,
    );
    const failed = { component_code: hooked("third"), configured_props: { failing: "yes" } };
    expect((await put(source.id, failed)).status).to.equal(400);
    const rows = await versions(source.id);
    expect(rows.map(({ comment }: { comment: string }) => comment)).to.deep.equal(["again", "hooked"]);
    const restored = await restore(source.id, 1, { comment: "back" });
    expect(restored.status, restored.text).to.equal(200);
    expect((await versions(source.id))[0]).to.include({ number: 3, comment: "back", restored_from: 1 });
    await until(async () => {
      const hooks = (await api.summaries(source.id)).map(({ event }) => event.raw_event.hook);
      return hooks[0] === "activate first" && hooks[1] === "deactivate second";
    });
  });

  it("of a source of an earlier release begin with the code that it has", async () => {
    const source = await api.createSource({ component_code: code("before") });
    const { mongo } = system.worker;
    await CodeHistories(mongo).deleteOne({ _id: source.id });
    const unknown = { user_id: null, username: null, key_id: null, from: null, created_at: null };
    const [only, ...others] = await versions(source.id);
    expect(others).to.deep.equal([]);
    expect(only).to.deep.include({ ...unknown, number: 1, is_current: true, can_restore: true });
    expect((await versions(source.id))[0].id).to.equal(only.id);
    expect(await history(source.id)).to.equal(null);
    await put(source.id, { component_code: code("after") });
    const both = await versions(source.id);
    expect(both[0]).to.include({ number: 2, user_id: api.userId });
    expect(both[1]).to.deep.equal({ ...only, is_current: false });
    expect((await restore(source.id, 1)).status).to.equal(200);
    expect(await emittedNow(source)).to.include({ word: "before" });
    // The release before deploys something, and keeps no version.
    const { id: other } = await api.expect(201, "POST", "/components", {
      body: { component_code: code("between") },
    });
    await Sources(mongo).updateOne({ _id: source.id }, { $set: { component_id: other } });
    const [between] = await versions(source.id);
    expect(between).to.deep.include({ ...unknown, number: 4, component_id: other, is_current: true });
    await put(source.id, { component_code: code("last") });
    const rows = await versions(source.id);
    expect(rows.map(({ number }: { number: number }) => number)).to.deep.equal([5, 4, 3, 2, 1]);
    expect(rows[1]).to.deep.equal({ ...between, is_current: false });
    expect(rows.map(({ id }: { id: string }) => id)).to.deep.equal(
      rows
        .map(({ id }: { id: string }) => id)
        .sort()
        .reverse(),
    );
  });

  it("are restored as the next version: the endpoint, the state and the secrets stay", async () => {
    const source = await api.createSource({
      component_code: code("one", { props: TOKEN }),
      configured_props: { token: SECRET },
    });
    await put(source.id, { component_code: code("two", { props: TOKEN }), active: false });
    const { status, body } = await restore(source.id, 1, { comment: "two is wrong" });
    expect(status).to.equal(200);
    expect(body.data).to.deep.include({
      ...{ active: false, component_id: source.component_id, secrets_removed: [] },
      configured_props: source.configured_props,
    });
    const [third] = await versions(source.id);
    expect(third).to.include({
      number: 3,
      restored_from: 1,
      comment: "two is wrong",
      from: "component_code",
    });
    await put(source.id, {});
    expect(await emittedNow(source)).to.deep.equal({ word: "one", token: SECRET });
    // The code that it has makes none.
    expect((await restore(source.id, 1)).status).to.equal(200);
    expect(await numbers(source.id)).to.deep.equal([3, 2, 1]);
  });

  it("give the errors of an update if a prop does not fit, and take another value for it", async () => {
    const source = await api.createSource({
      component_code: code("strict", { props: 'city: { type: "string", options: ["Bern", "Zug"] }' }),
      configured_props: { city: "Bern" },
    });
    await put(source.id, {
      component_code: code("loose", { props: 'city: "string"' }),
      configured_props: { city: "Rome" },
    });
    const rejected = await restore(source.id, 1);
    expect(rejected.status).to.equal(400);
    expect(rejected.body.errors.map(({ path }: { path: string }) => path)).to.deep.equal([
      "configured_props.city",
    ]);
    expect(await numbers(source.id)).to.deep.equal([2, 1]);
    expect((await restore(source.id, 1, { configured_props: { city: "Zug" } })).status).to.equal(200);
    expect((await versions(source.id))[0]).to.include({ number: 3, restored_from: 1 });
  });

  it("are restored only at the revision that If-Match names", async () => {
    const source = await api.createSource({ component_code: code("m-one") });
    await put(source.id, { component_code: code("m-two") });
    const path = `/sources/${source.id}/versions/1/restore`;
    const send = (tag: string) => api.request("POST", path, { body: {}, headers: { "if-match": tag } });
    const stale = await send('"1"');
    expect(stale.status).to.equal(412);
    expect(stale.body).to.deep.include({ revision: 2, changed: ["component_id"] });
    const right = await send('"2"');
    expect([right.status, right.headers.get("etag")]).to.deep.equal([200, '"3"']);
  });

  it("of another account's component lose the secrets, as if the component was named", async () => {
    const author = await system.user();
    const published = await author.expect(201, "POST", "/components", {
      body: { component_code: code("public", { props: TOKEN, more: 'key: "versions-public",' }) },
    });
    await publishComponent(system.worker, published.id);
    const configured_props = { token: SECRET };
    const source = await api.createSource({ key: "versions-public", configured_props });
    expect((await put(source.id, { component_code: code("own", { props: TOKEN }) })).status).to.equal(200);
    const rejected = await restore(source.id, 1);
    expect([rejected.status, rejected.body.errors?.[0].path]).to.deep.equal([400, "configured_props.token"]);
    expect((await restore(source.id, 1, { configured_props })).status).to.equal(200);
    expect((await restore(source.id, 2)).body.data.secrets_removed).to.deep.equal([]);
    expect(await emittedNow(source)).to.deep.equal({ word: "own", token: SECRET });
  });

  it("of a member's own component show no code to other members, who can't restore them", async () => {
    const org_id = await system.organization(api.userId);
    const other = await system.user();
    await addMember(system.worker, org_id, other.userId);
    const { id: component_id } = await api.expect(201, "POST", "/components", {
      body: { component_code: code("of-one") },
    });
    const source = await api.createSource({ component_id }, { org_id });
    await put(source.id, { component_code: code("of-all") }, other);
    const [all, own] = await versions(source.id, other);
    expect(all).to.deep.include({ user_id: other.userId, can_restore: true });
    const hidden = { code_hash: null, component_version: null, component_url: null, can_restore: false };
    expect(own).to.deep.include({ ...hidden, user_id: api.userId, component_id });
    const shown = await other.request("GET", `/sources/${source.id}/versions/1`);
    expect(shown.body.data).to.deep.include({ code: null, files: null, entry: null });
    expect(shown.text).not.to.include("of-one");
    expect((await restore(source.id, 1, {}, other)).status).to.equal(409);
    expect((await restore(source.id, 1)).status).to.equal(200);
  });

  it("are restored after all sweeps, and after others with the same bundle were deleted", async () => {
    const source = await api.createSource({ component_code: code("swept") });
    const twin = await system.user();
    const { id: same } = await twin.expect(201, "POST", "/components", {
      body: { component_code: code("swept") },
    });
    await put(source.id, { component_code: code("present") });
    await twin.expect(204, "DELETE", `/components/${same}`);
    await sweepAll(system.worker);
    expect((await restore(source.id, 1)).status).to.equal(200);
    expect(await emittedNow(source)).to.include({ word: "swept" });
  });

  it("whose component was deleted are listed, and can't be restored", async () => {
    const source = await api.createSource({ component_code: code("gone") });
    await put(source.id, { component_code: code("there") });
    const { mongo } = system.worker;
    const row = await Components(mongo).findById(source.component_id).lean();
    await api.expect(204, "DELETE", `/components/${source.component_id}`);
    expect(await Bundles(mongo).exists({ _id: row?.bundle_hash ?? "" })).to.equal(null);
    const [, first] = await versions(source.id);
    expect(first).to.deep.include({ number: 1, user_id: api.userId, code_hash: null, can_restore: false });
    expect((await api.expect(200, "GET", `/sources/${source.id}/versions/1`)).code).to.equal(null);
    const rejected = await restore(source.id, 1);
    expect(rejected.status).to.equal(409);
    expect(rejected.body.detail).to.include("version 1 can't be restored");
  });

  it("are deleted with their source", async () => {
    const source = await api.createSource({ component_code: code("short-lived") });
    expect((await history(source.id))?.versions).to.have.length(1);
    await api.expect(204, "DELETE", `/sources/${source.id}`);
    await until(async () => (await history(source.id)) === null, { what: "the end of its versions" });
  });

  it("are of one change each, also of several at once", async () => {
    const source = await api.createSource({ component_code: code("a") });
    const changes = ["b", "c", "d", "e"].map(word => put(source.id, { component_code: code(word) }));
    expect((await Promise.all(changes)).map(({ status }) => status)).to.deep.equal([200, 200, 200, 200]);
    expect(await numbers(source.id)).to.deep.equal([5, 4, 3, 2, 1]);
    const { component_id } = await api.expect(200, "GET", `/sources/${source.id}`);
    expect((await versions(source.id))[0]).to.include({ component_id, is_current: true });
  });
});
