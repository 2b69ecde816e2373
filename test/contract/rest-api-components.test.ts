import { expect } from "chai";
import { publishComponent } from "../../src/components/components.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { startReceiver } from "../support/receiver.ts";
import { openWorld } from "./open-world.ts";
import { isIdOf, isRecent, names, rejected } from "./shapes.ts";
import { newCode, type Owner } from "./things.ts";

const FIELDS = [
  ...["id", "code", "code_hash", "name", "version", "key", "component_url", "configurable_props"],
  ...["additional_props", "description", "dedupe", "remember", "type", "owner_id", "published"],
  ...["created_at", "updated_at"],
];

/** docs/rest-api.md#components */
describe("components", () => {
  let world: Awaited<ReturnType<typeof openWorld>>;
  let api: Owner["api"];
  let stranger: Owner["api"];

  before(async () => {
    world = await openWorld();
    [api, stranger] = [await world.system.user(), await world.system.user()];
  });
  after(() => world.close());

  const save = (body: Record<string, unknown>) => api.expect(201, "POST", "/components", { body });
  const publish = (id: string) => publishComponent(world.system.worker, id);

  it("are returned with their code and their props", async () => {
    const code = `export default { name: "Every Prop", version: "1.2.3", key: "every-prop", props: {
      timer: { type: "$.interface.timer", default: { intervalSeconds: 60 } },
      url: { type: "string", label: "URL", description: "Where to look" } } };`;
    const component = await save({ component_code: code });
    expect(component).to.have.all.keys(FIELDS);
    expect(component).to.include({
      code,
      name: "Every Prop",
      version: "1.2.3",
      key: "every-prop",
      component_url: null,
      owner_id: api.userId,
      published: false,
    });
    expect(component.configurable_props).to.deep.equal([
      { name: "timer", type: "$.interface.timer", default: { intervalSeconds: 60 } },
      { name: "url", type: "string", label: "URL", description: "Where to look" },
    ]);
    isIdOf("sc", component.id);
    isRecent(component.created_at);
    isRecent(component.updated_at);
    expect(component.code_hash).to.match(/^[0-9a-f]{64}$/);
    for (const name of [component.id, "every-prop"]) {
      expect(await api.expect(200, "GET", `/components/${name}`)).to.deep.equal(component);
    }
  });

  it("have the type that they are deployed as, by which they are listed", async () => {
    const owner = await world.system.user();
    const saved = async (type: string) => {
      const code = `export default { name: "Typed", version: "0.0.1", ${type} run() {} };`;
      return owner.expect(201, "POST", "/components", { body: { component_code: code } });
    };
    const silent = await saved("");
    const source = await saved('type: "source",');
    const action = await saved('type: "action",');
    expect([silent.type, source.type, action.type]).to.deep.equal(["source", "source", "action"]);
    expect(await owner.expect(200, "GET", `/components/${action.id}`)).to.include({ type: "action" });
    const listed = async (query: Record<string, string | number>) => {
      const { body } = await owner.request("GET", "/components", { query });
      const ids = body.data.map(({ id }: { id: string }) => id);
      return { ids, total: body.page_info.total_count, end: body.page_info.end_cursor };
    };
    expect(await listed({})).to.deep.include({ ids: [action.id, source.id, silent.id], total: 3 });
    expect(await listed({ type: "action" })).to.deep.include({ ids: [action.id], total: 1 });
    const first = await listed({ type: "source", limit: 1 });
    expect(first).to.deep.include({ ids: [source.id], total: 2 });
    expect(await listed({ type: "source", limit: 1, after: first.end })).to.deep.include({
      ids: [silent.id],
    });
    names(await owner.request("GET", "/components", { query: { type: "app" } }), "query type");
    const described = await owner.expect(200, "POST", "/components/describe", {
      body: { component_code: action.code },
    });
    expect(described.component).to.include({ type: "action" });
  });

  it("are not saved twice for the same code and owner", async () => {
    const code = newCode();
    const first = await save({ component_code: code });
    expect(await save({ component_code: code })).to.deep.equal(first);
    const other = await stranger.expect(201, "POST", "/components", { body: { component_code: code } });
    expect(other.id).not.to.equal(first.id);
    expect(other.code_hash).to.equal(first.code_hash);
  });

  it("may share a key, which returns the latest one", async () => {
    const older = await save({ component_code: `${newCode("twice")} // 1` });
    const newer = await save({ component_code: `${newCode("twice")} // 2` });
    expect(newer.id).not.to.equal(older.id);
    expect((await api.expect(200, "GET", "/components/twice")).id).to.equal(newer.id);
    expect((await api.expect(200, "GET", `/components/${older.id}`)).id).to.equal(older.id);
  });

  it("need code or an address; with both, the address is only metadata", async () => {
    const ways = ["body component_code", "body files", "body component_url"];
    names(await api.request("POST", "/components", { body: {} }), ...ways);
    names(await api.request("POST", "/components"), ...ways);
    const component_url = "https://components.invalid/never-fetched.mjs";
    const component = await save({ component_code: newCode(), component_url });
    expect(component.component_url).to.equal(component_url);
  });

  it("are fetched from their address with their imports", async () => {
    const files: Record<string, string> = {
      "/a/main.mjs": `import { name } from "../lib/name.mjs"; export default { name, version: "0.0.1", key: "fetched" };`,
      "/lib/name.mjs": `export const name = "Fetched";`,
    };
    const host = await startReceiver(({ path }) => (files[path] ? { status: 200, body: files[path] } : 404));
    const url = (path: string) => new URL(path, host.url).href;
    const component = await save({ component_url: url("/a/main.mjs") });
    expect(component).to.include({
      name: "Fetched",
      code: files["/a/main.mjs"],
      component_url: url("/a/main.mjs"),
    });
    const again = await save({ component_url: url("/a/main.mjs") });
    expect(again.id).to.equal(component.id);
    files["/lib/name.mjs"] = `export const name = "Changed";`;
    expect(await save({ component_url: url("/a/main.mjs") })).to.include({ name: "Changed" });
    for (const invalid of [
      url("/absent.mjs"),
      "ftp://a.b/c.mjs",
      "/etc/passwd",
      "file:///etc/passwd",
      "http://10.0.0.1/c.mjs",
    ]) {
      names(
        await api.request("POST", "/components", { body: { component_url: invalid } }),
        "body component_url",
      );
    }
    await host.close();
  });

  it("may have several files, which import each other and nothing else", async () => {
    const files: Record<string, string> = {
      "a/main.mjs": `import { name } from "../lib/name"; export default { name, version: "0.0.1", key: "of-files" };`,
      "lib/name.ts": `export const name: string = "Of Files";`,
    };
    const entry = "a/main.mjs";
    const component = await save({ files, entry });
    expect(component).to.include({ name: "Of Files", code: files["a/main.mjs"], component_url: null });
    expect((await save({ files, entry })).id).to.equal(component.id);
    const source = await api.createSource({ files, entry });
    expect(source.component_id).to.equal(component.id);
    const changed = { ...files, "lib/name.ts": `export const name = "Changed";` };
    const { component_id } = await api.expect(200, "PUT", `/sources/${source.id}`, {
      body: { files: changed, entry },
    });
    expect(component_id).not.to.equal(component.id);
    const action = {
      files: {
        "note.mjs": `import "./part.mjs"; export default { name: "Note", version: "0.0.1", type: "action", run() {} };`,
        "part.mjs": "",
      },
      entry: "note.mjs",
    };
    await api.expect(201, "POST", "/destinations", { body: { action } });
    const main = `export default { name: "Main", version: "0.0.1", run() {} };`;
    const rejections: [Record<string, unknown>, string][] = [
      [{ files, entry: "main.mjs" }, "body entry"],
      [{ files }, "body entry"],
      [{ entry, component_code: newCode() }, "body entry"],
      [{ files: {}, entry }, "body files"],
      [{ files: { [entry]: 1 }, entry }, `body files.${entry}`],
      [{ files: { [entry]: files[entry] }, entry }, "body files"],
      [{ files: { "main.mjs": `import "../../etc/passwd"; ${main}` }, entry: "main.mjs" }, "body files"],
      [
        { files: { "main.mjs": `import "./%2e%2e/%2e%2e/etc/passwd"; ${main}` }, entry: "main.mjs" },
        "body files",
      ],
      [
        { files: { "main.mjs": `${main} /*${"x".repeat(LIMITS.moduleBytes.value)}*/` }, entry: "main.mjs" },
        "body files",
      ],
      ...[
        "../main.mjs",
        "/main.mjs",
        "a/../main.mjs",
        "./main.mjs",
        "a//main.mjs",
        "a\\main.mjs",
        "a/",
        "",
        "a\u0001.mjs",
      ].map((path): [Record<string, unknown>, string] => [
        { files: { [path]: main }, entry: path || "main.mjs" },
        "body files",
      ]),
    ];
    for (const [body, field] of rejections) {
      names(await api.request("POST", "/components", { body }), field);
    }
    // What means something in an address is a name.
    for (const path of ["constructor", "a%2fb.mjs", "a?b#c.mjs", "ü b.mjs"]) {
      const body = JSON.parse(
        `{ "files": { ${JSON.stringify(path)}: ${JSON.stringify(`${main} // ${path}`)} } }`,
      );
      expect(await save({ ...body, entry: path })).to.include({ name: "Main" });
    }
  });

  it("are rejected by field if their code is invalid", async () => {
    const invalid: Record<string, string> = {
      "": "body component_code",
      "export default {": "body component_code",
      "import './x.mjs'; export default {}": "body component_code",
      "export default 1": "component code",
      "throw new Error('x')": "component code",
      "1": "component code",
    };
    for (const [component_code, field] of Object.entries(invalid)) {
      names(await api.request("POST", "/components", { body: { component_code } }), field);
    }
    const app = `export default { name: "A", version: "1", type: "app", run() {} };`;
    names(await api.request("POST", "/components", { body: { component_code: app } }), "component type");
    names(await api.request("POST", "/components", { body: { component_code: 1 } }), "body component_code");
  });

  it("can be read by everybody once published: by key, by id and from the registry", async () => {
    const key = "@scope/published-one";
    const component = await save({ component_code: newCode(key) });
    const paths = [component.id, encodeURIComponent(key), `registry/${encodeURIComponent(key)}`];
    for (const path of paths) rejected(await stranger.request("GET", `/components/${path}`), 404);
    await publish(component.id);
    for (const path of paths) {
      expect((await stranger.expect(200, "GET", `/components/${path}`)).id).to.equal(component.id);
    }
    rejected(await stranger.request("GET", `/components/registry/${component.id}`), 404);
    rejected(await stranger.request("DELETE", `/components/${component.id}`), 404);
    const own = await stranger.expect(201, "POST", "/components", {
      body: { component_code: `${newCode(key)}// own` },
    });
    expect((await stranger.expect(200, "GET", `/components/${encodeURIComponent(key)}`)).id).to.equal(own.id);
    expect(
      (await stranger.expect(200, "GET", `/components/registry/${encodeURIComponent(key)}`)).id,
    ).to.equal(component.id);
  });

  it("can be deleted unless a source of any account uses them", async () => {
    const component = await save({ component_code: newCode("in-use") });
    await publish(component.id);
    const source = await stranger.createSource({ key: "in-use" });
    rejected(await api.request("DELETE", `/components/${component.id}`), 409);
    await stranger.expect(200, "GET", `/sources/${source.id}`);
    const free = await save({ component_code: newCode() });
    await api.expect(204, "DELETE", `/components/${free.id}`);
    rejected(await api.request("GET", `/components/${free.id}`), 404);
    rejected(await api.request("DELETE", `/components/${free.id}`), 404);
  });

  it("of an organization belong to its members and are listed with org_id", async () => {
    const org_id = await world.system.organization(api.userId);
    const body = { component_code: newCode() };
    const inQuery = await api.expect(201, "POST", "/components", { body, query: { org_id } });
    const inBody = await api.expect(201, "POST", "/components", { body: { ...body, org_id } });
    expect(inBody).to.deep.equal(inQuery);
    const list = async (query: Record<string, string>) =>
      (await api.expect(200, "GET", "/components", { query: { ...query, limit: 100 } })).map(
        (row: { id: string }) => row.id,
      );
    expect(await list({ org_id })).to.deep.equal([inQuery.id]);
    expect(await list({})).not.to.include(inQuery.id);
    expect((await api.expect(200, "GET", `/components/${inQuery.id}`)).id).to.equal(inQuery.id);
  });
});
