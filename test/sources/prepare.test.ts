import { expect } from "chai";
import { publishComponent } from "../../src/components/components.ts";
import type { Deployer } from "../../src/components/deployer.ts";
import { newId } from "../../src/lib/ids.ts";
import { Components } from "../../src/models/component.ts";
import type { Source } from "../../src/models/source.ts";
import { prepareSource, type SourceInput } from "../../src/sources/prepare.ts";
import { rejection } from "../components/rejection.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { storeSource } from "./source-row.ts";

const code = (name: string, props = "{}", key?: string) =>
  `export default { name: ${JSON.stringify(name)}, version: "0.0.1", ${key ? `key: "${key}",` : ""} props: ${props} };`;

describe("prepareSource", () => {
  let platform: TestPlatform;
  let mine: Deployer;
  before(async () => {
    platform = await openTestPlatform({}, { process: "web" });
    mine = deployer(newId("u"));
  });
  after(() => platform.destroy());

  const deployer = (id: string): Deployer => ({ owner: id, readable: [id], userId: id });
  const prepare = (input: SourceInput, before?: Source, caller = mine) =>
    prepareSource(platform, caller, input, before);
  const valuesOf = (sealed: string) => JSON.parse(platform.secrets.open(sealed));

  it("names the source by the slug of its component's name, unless the request has a name", async () => {
    const plain = await prepare({ component_code: code("RSS: New Item!") });
    expect(plain.fields).to.include({ name: "rss-new-item", name_slug: "rss-new-item", active: true });
    const named = await prepare({ component_code: code("RSS: New Item!"), name: "Mine – Ö" });
    expect(named.fields).to.include({ name: "Mine – Ö", name_slug: "mine-o" });
  });

  it("adds a suffix to a slug that another source of the account has, in any state", async () => {
    const owner = deployer(newId("u"));
    await storeSource(platform, { owner_id: owner.owner, name_slug: "taken", state: "deleting" });
    const { fields } = await prepare({ component_code: code("Taken") }, undefined, owner);
    expect(fields.name_slug).to.match(/^taken-[a-z0-9]{6}$/);
    expect((await prepare({ component_code: code("Taken") })).fields.name_slug).to.equal("taken");
  });

  it("finds the component by id, else by key, else by code; a URL beside them is stored and not fetched", async () => {
    const [first, second] = await Promise.all([
      prepare({ component_code: code("First", "{}", "first") }),
      prepare({ component_code: code("Second", "{}", "second") }),
    ]);
    const component_url = "http://127.0.0.1:1/never-fetched.mjs";
    const byId = await prepare({
      component_id: first.component._id,
      key: "second",
      component_code: code("Third"),
      component_url,
    });
    expect(byId.component._id).to.equal(first.component._id);
    expect(byId.fields.component_url).to.equal(component_url);
    expect((await prepare({ key: "second", component_code: code("Third") })).component._id).to.equal(
      second.component._id,
    );
    expect((await prepare({ component_code: code("Third"), component_url })).component.name).to.equal(
      "Third",
    );
  });

  it("finds another account's component, by id or key, only if it is published", async () => {
    const stranger = deployer(newId("u"));
    const open = await prepare({ component_code: code("Open", "{}", "open-key") }, undefined, stranger);
    const closed = await prepare({ component_code: code("Closed", "{}", "closed-key") }, undefined, stranger);
    await publishComponent(platform, open.component._id);
    expect((await prepare({ component_id: open.component._id })).component._id).to.equal(open.component._id);
    expect((await prepare({ key: "open-key" })).component._id).to.equal(open.component._id);
    for (const input of [
      { component_id: closed.component._id },
      { key: "closed-key" },
      { component_id: newId("sc") },
    ]) {
      expect((await rejection(prepare(input))).code).to.equal("not-found");
    }
  });

  it("encrypts the values, differently each time, and stores the endpoint and timer beside them", async () => {
    const props = `{ http: "$.interface.http", timer: "$.interface.timer", a: "string", b: { type: "integer", optional: true } }`;
    const { fields, component } = await prepare({
      component_code: code("Both", props),
      configured_props: { a: "value-in-clear", timer: { cron: "0  3 * * *" } },
    });
    expect(JSON.stringify(fields)).not.to.include("value-in-clear");
    expect(valuesOf(fields.configured_props)).to.deep.equal({
      a: "value-in-clear",
      timer: { cron: "0 3 * * *", timezone: "UTC" },
    });
    expect(fields.endpoint).to.match(/^[A-Za-z0-9]{32}$/);
    expect(fields.timer).to.deep.equal({ cron: "0 3 * * *", timezone: "UTC", interval_seconds: null });

    const before = await storeSource(platform, {
      ...fields,
      timer: fields.timer as Source["timer"],
      component_id: component._id,
      owner_id: mine.owner,
    });
    const next = await prepare({ configured_props: { b: 7, timer: null } }, before);
    expect(next.fields).to.include({ endpoint: fields.endpoint, name_slug: fields.name_slug });
    expect(next.fields.configured_props).not.to.equal(fields.configured_props);
    expect(valuesOf(next.fields.configured_props)).to.deep.equal({ a: "value-in-clear", b: 7 });
    expect(next.fields.timer).to.include({ interval_seconds: 900 });
    const rejected = await rejection(prepare({ configured_props: { a: null, b: "x", c: 1 } }, before));
    expect(rejected.fields.map(({ path }) => path)).to.have.members(
      ["a", "b", "c"].map(name => `configured_props.${name}`),
    );
  });

  it("keeps an app's credentials only for the same app", async () => {
    const app = (slug: string) => `{ acme: { type: "app", app: "${slug}" } }`;
    const first = await prepare({
      component_code: code("App", app("acme")),
      configured_props: { acme: { $auth: { token: "t" } } },
    });
    const before = await storeSource(platform, {
      ...first.fields,
      timer: null,
      component_id: first.component._id,
      owner_id: mine.owner,
    });
    const same = await prepare({ component_code: code("App 2", app("acme")) }, before);
    expect(valuesOf(same.fields.configured_props)).to.deep.equal({ acme: { $auth: { token: "t" } } });
    const other = await prepare({ component_code: code("App 3", app("evil")) }, before);
    expect(valuesOf(other.fields.configured_props)).to.deep.equal({});
  });

  it("rejects a request without a component, and saves no component that is invalid", async () => {
    const none = await rejection(prepare({ name: "x" }));
    expect(none.fields.map(({ path }) => path)).to.deep.equal([
      "component_id",
      "key",
      "component_code",
      "files",
      "component_url",
    ]);
    const before = await Components(platform.mongo).countDocuments();
    for (const broken of ["export default {", "export default 7;", 'export default { name: "x" };']) {
      expect((await rejection(prepare({ component_code: broken }))).code).to.equal("invalid");
    }
    expect(await Components(platform.mongo).countDocuments()).to.equal(before);
  });
});
