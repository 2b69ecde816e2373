import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { bundleComponent } from "../../src/components/bundle.ts";
import { fromCode } from "../../src/components/load-modules.ts";
import { parseIndex } from "../../src/gallery/index-file.ts";
import { addIndex, listIndexes, removeIndex } from "../../src/gallery/indexes.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { Components } from "../../src/models/component.ts";
import { GalleryIndexes } from "../../src/models/gallery-index.ts";
import { rejection } from "../components/rejection.ts";
import type { Api } from "../support/api.ts";
import { fixturePackages } from "../support/fixture-packages.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";

const codeOf = (
  version: string,
) => `export default { key: "acme-orders", name: "Orders", version: "${version}", type: "source",
  description: "Emits orders.", props: { http: "$.interface.http", token: { type: "string", secret: true, label: "Token" } },
  run(event) { this.$emit({ order: event.body.id, version: "${version}" }); } };
globalThis.executed = true;`;

const APP = {
  ...{ key: "acme", name: "Acme", categories: ["commerce"], monogram: "Ac", maturity: "beta" },
  account: { kind: "key", needs: "A token.", where: { label: "Tokens", url: "https://acme.example/tokens" } },
  ...{ docs: null, last_checked: "2026-11-29" },
};

async function indexOf(version: string) {
  const code = codeOf(version);
  const { code: bundle } = await bundleComponent(fromCode(code), await fixturePackages());
  const description = {
    ...{ key: "acme-orders", name: "Orders", version, type: "source", description: "Emits orders." },
    props: [
      { name: "http", type: "$.interface.http" },
      { name: "token", type: "string", secret: true, label: "Token" },
    ],
    ...{ hooks: [], hasRun: true },
  };
  const changelog = [{ version, date: "2026-11-29", changes: ["New."] }];
  const files = { "orders.mjs": code };
  const component = { app: "acme", description, sample: { order: 1 }, changelog, files, entry: "orders.mjs" };
  return {
    headwater_gallery: 1,
    title: "Acme's components",
    apps: [APP],
    components: [{ ...component, packages: {}, bundle }],
  };
}
type Index = Awaited<ReturnType<typeof indexOf>>;

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

describe("an index of the gallery by somebody else", () => {
  let system: System;
  let api: Api;
  let host: Server;
  let url: string;
  let serve: (request: IncomingMessage, response: ServerResponse) => void;
  let first: Index;
  before(async () => {
    host = createServer((request, response) => serve(request, response));
    await once(host.listen(0, "127.0.0.1"), "listening");
    url = `http://127.0.0.1:${(host.address() as AddressInfo).port}/gallery.json`;
    system = await startSystem();
    api = await system.user();
    first = await indexOf("1.0.0");
  });
  afterEach(async () => {
    await Components(system.web.mongo).deleteMany({ owner_id: /^gallery-/ });
    await GalleryIndexes(system.web.mongo).deleteMany({});
  });
  after(async () => {
    host.closeAllConnections();
    host.close();
    await system?.stop();
  });

  const serveText = (text: string) => {
    serve = (_, response) => response.end(text);
  };
  const add = (given: object | string, { name = "acme", hash = "" } = {}) => {
    const text = typeof given === "string" ? given : JSON.stringify(given);
    serveText(text);
    return addIndex(system.web, { name, url, sha256: hash || sha256(text) });
  };
  const entry = () => api.expect(200, "GET", "/gallery/acme-orders");
  const runOf = async (source: { id: string; configured_props: { http?: { endpoint_url?: string } } }) => {
    const sent = { method: "POST", headers: { "content-type": "application/json" }, body: '{"id": 7}' };
    await fetch(source.configured_props.http?.endpoint_url ?? "", sent);
    const [last] = await until(async () => {
      const found = await api.summaries(source.id);
      return found.length > 0 && found;
    });
    return last?.event.raw_event;
  };

  it("is shown with where it came from, and deployed without npm and network, as any component", async () => {
    expect(await add(first)).to.deep.equal({ name: "acme", title: first.title, components: 1, published: 1 });
    serve = (_, response) => response.destroy();
    const shown = await entry();
    expect(shown).to.deep.include({
      origin: { index: "acme", title: first.title, url },
      ...{ version: "1.0.0", sample: { order: 1 }, app: APP },
    });
    const { components, categories } = await api.expect(200, "GET", "/gallery", { query: { q: "acme" } });
    expect(components.map(({ key }: { key: string }) => key)).to.deep.equal(["acme-orders"]);
    expect(categories).to.include("commerce");
    const configured_props = { token: "s3cret" };
    const source = await api.createSource({ component_id: shown.component_id, configured_props });
    expect(await runOf(source)).to.deep.equal({ order: 7, version: "1.0.0" });
    await api.expect(404, "DELETE", `/components/${shown.component_id}`);
    expect((globalThis as { executed?: boolean }).executed, "nothing runs here").to.equal(undefined);
  });

  it("has a later version by another hash, to which a source goes over with its secrets", async () => {
    await add(first);
    const before = (await entry()).component_id;
    const source = await api.createSource({ component_id: before, configured_props: { token: "s3cret" } });
    await add(await indexOf("1.1.0"));
    const after = await entry();
    expect(after.version).to.equal("1.1.0");
    expect(after.component_id).not.to.equal(before);
    const body = { component_id: after.component_id };
    expect((await api.expect(200, "PUT", `/sources/${source.id}`, { body })).secrets_removed).to.deep.equal(
      [],
    );
    expect(await listIndexes(system.web)).to.have.length(1);
  });

  it("is taken back: what is deployed goes on, and is published again with it", async () => {
    await add(first);
    const { component_id } = await entry();
    const source = await api.createSource({ component_id, configured_props: { token: "t" } });
    expect(await removeIndex(system.web, "acme")).to.deep.equal({ name: "acme", components: 1 });
    await api.expect(404, "GET", "/gallery/acme-orders");
    expect(await runOf(source)).to.deep.include({ order: 7 });
    expect((await api.request("POST", "/sources", { body: { component_id } })).status).to.equal(404);
    await add(first);
    expect((await entry()).component_id).to.equal(component_id);
    expect((await rejection(removeIndex(system.web, "other"))).code).to.equal("not-found");
  });

  const isRejected = async (given: object | string, message: RegExp, what = "") => {
    const error = await rejection(add(given));
    expect(error.message, what).to.match(message);
    expect(error.message.length, "a stranger's text").to.be.below(500);
    expect(await Components(system.web.mongo).countDocuments({ owner_id: /^gallery-/ }), what).to.equal(0);
    expect(await listIndexes(system.web), what).to.deep.equal([]);
  };

  it("is not taken if it has changed, and names the hash that it has", async () => {
    const text = JSON.stringify(first);
    const error = await rejection(add(text, { hash: "0".repeat(64) }));
    expect(error.message).to.include(sha256(text));
    expect((await rejection(add(text, { hash: "abc" }))).message).to.match(/64 hexadecimal digits/);
    expect((await rejection(add(text, { name: "../x" }))).message).to.match(/lower-case letters/);
    expect(await listIndexes(system.web)).to.deep.equal([]);
  });

  it("is not taken from a server that redirects, fails, never ends, sends too much, or is private", async () => {
    const given = (respond: typeof serve, timeoutMs = 2000) => {
      serve = respond;
      return rejection(addIndex(system.web, { name: "acme", url, sha256: "0".repeat(64) }, timeoutMs));
    };
    const redirect: typeof serve = (_, response) => response.writeHead(302, { location: `${url}2` }).end();
    expect((await given(redirect)).message).to.match(/a redirect is not followed/);
    expect((await given((_, response) => response.writeHead(500).end())).message).to.match(/status 500/);
    const slow: typeof serve = (_, response) => response.write("{");
    expect((await given(slow, LIMITS.galleryIndexMs.value / 150)).message).to.match(
      /did not respond within|ended early/,
    );
    const huge: typeof serve = (_, response) =>
      response.end(Buffer.alloc(LIMITS.galleryIndexBytes.value + 1, " "));
    expect((await given(huge, 20_000)).message).to.match(/has more than 16 MB/);
    for (const address of ["http://10.0.0.1/gallery.json", "file:///etc/passwd", "ftp://example.com/x"]) {
      const failed = await rejection(
        addIndex(system.web, { name: "acme", url: address, sha256: "0".repeat(64) }),
      );
      expect(failed.message, address).to.match(/not a public address|must start with http/);
    }
  });

  it("is rejected with what is wrong and where, and nothing of it is stored", async () => {
    const [component] = first.components;
    const withComponent = (changes: object) => ({ ...first, components: [{ ...component, ...changes }] });
    const described = (changes: object) =>
      withComponent({ description: { ...component?.description, ...changes } });
    const cases: Record<string, [object | string, RegExp]> = {
      "not JSON": ["<html>", /is not JSON/],
      deep: ["[".repeat(100_000), /nested deeper than/],
      "too many values": [`[${"[],".repeat(3_000_000)}[]]`, /has too many values/],
      "another format": [{ ...first, headwater_gallery: 2 }, /headwater_gallery/],
      "an unknown field": [{ ...first, install: "curl" }, /has a field "install", which is unknown/],
      "a member twice": [
        JSON.stringify(first).replace('"bundle":', '"bundle":"x","bundle":'),
        /a member twice/,
      ],
      "a component twice": [
        { ...first, components: [component, component] },
        /two of the component "acme-orders"/,
      ],
      "an app twice": [{ ...first, apps: [APP, APP] }, /two of the app "acme"/],
      "too many components": [
        { ...first, components: Array(LIMITS.galleryComponents.value + 1).fill(component) },
        /components must NOT have more than 50 items/,
      ],
      "an absent app": [
        withComponent({ app: "other" }),
        /components\.0 is of an app "other" that is not there/,
      ],
      "a script as a link": [
        { ...first, apps: [{ ...APP, docs: { label: "x", url: "javascript:alert(1)" } }] },
        /link of the app acme that can't be followed: .*must start with http/,
      ],
      "a path that leaves": [
        withComponent({ files: { "../x.mjs": "" }, entry: "../x.mjs" }),
        /not a plain path/,
      ],
      "a long path": [
        withComponent({ files: { [`../${"x".repeat(10_000)}`]: "" }, entry: "x" }),
        /not a plain path|x{100}/,
      ],
      "an absolute path": [withComponent({ files: { "/etc/x": "" }, entry: "/etc/x" }), /not a plain path/],
      "an absent entry": [withComponent({ entry: "other.mjs" }), /is not the path of one of the files/],
      "a key of the release": [described({ key: "headwater-feed" }), /has the key "headwater-feed"/],
      "no key": [described({ key: undefined }), /has no key/],
      "a prop that is none": [described({ props: [{ name: "$x", type: "string" }] }), /props\.\$x/],
      "a field of the description": [described({ owner: "x" }), /components\.0 /],
      "a bundle that is none": [withComponent({ bundle: "" }), /components\.0\.bundle/],
    };
    for (const [what, [given, message]] of Object.entries(cases)) await isRejected(given, message, what);
    expect(() => parseIndex(Buffer.from([0xff, 0xfe]))).to.throw("is not UTF-8");
  });

  it("is rejected for a key that somebody else has published, and beyond a number of indexes", async () => {
    await add(first);
    expect((await rejection(add(first, { name: "other" }))).message).to.match(
      /acme-orders is published already/,
    );
    const rows = Array.from({ length: LIMITS.galleryIndexes.value - 1 }, (_, n) => ({
      ...{ _id: `index-${n}`, url, sha256: "0".repeat(64), created_at: 0, updated_at: 0 },
      listed: JSON.stringify({ title: "T", apps: [], components: [] }),
    }));
    await GalleryIndexes(system.web.mongo).insertMany(rows);
    const other = await indexOf("2.0.0");
    const renamed = JSON.stringify(other).replaceAll("acme-orders", "acme-others");
    expect((await rejection(add(renamed, { name: "third" }))).message).to.match(/there are 10 indexes/);
    expect((await add(await indexOf("1.2.0"))).published, "a later version of one that is there").to.equal(1);
  });
});
