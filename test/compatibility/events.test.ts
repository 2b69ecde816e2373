import { createHash, createHmac } from "node:crypto";
import { readFile } from "node:fs/promises";
import { expect } from "chai";
import { Components } from "../../src/models/component.ts";
import type { Api, SourceView } from "../support/api.ts";
import { fixturePackages } from "../support/fixture-packages.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";
import { bundleFixture, fixturePath } from "./fixture.ts";
import { startFixtureSite } from "./fixture-site.ts";
import { reading, startTideApi, type TideApi } from "./tide-api.ts";

const JSON_TYPE = { "content-type": "application/json" };

/** The rules that need the whole system: sources are created from the fixtures' addresses and called over HTTP. */
describe("compatibility: events given to run, on the whole system", () => {
  let system: System;
  let site: Awaited<ReturnType<typeof startFixtureSite>>;
  let tide: TideApi;
  let api: Api;

  before(async () => {
    [site, tide] = [await startFixtureSite(), await startTideApi()];
    const { npmEnvironment, cacheDir } = await fixturePackages();
    system = await startSystem({
      SANDBOX_EGRESS_ALLOW: "127.0.0.1/32",
      CACHE_DIR: cacheDir,
      npm_config_registry: npmEnvironment.npm_config_registry ?? "",
    });
    api = await system.user();
  });
  after(async () => {
    await system?.stop();
    await site?.close();
    await tide?.close();
  });

  const create = (file: string, configured_props: object = {}): Promise<SourceView> =>
    api.createSource({ component_url: site.urlOf(file), configured_props });
  const endpointOf = ({ configured_props }: SourceView): string =>
    (configured_props.http as { endpoint_url: string }).endpoint_url;

  /** Waits until a source has `count` events, and returns its newest events, oldest first. */
  const events = async (source: SourceView, count: number, stream = "") => {
    const rows = await until(
      async () => {
        const found = await api.summaries(source.id, { stream, query: { expand: "event" } });
        return found.length >= count && found.reverse();
      },
      { what: `${count} events of ${source.name}` },
    );
    return rows.map(({ event }) => (stream === "" ? event.raw_event : event));
  };

  it("component_url follows relative imports over HTTP, and produces the same bundle as the files @long", async () => {
    const file = "lighthouse/sources/new-signal/new-signal.ts";
    const { id, code_hash } = await api.expect(201, "POST", "/components", {
      body: { component_url: site.urlOf(file) },
    });
    const local = await bundleFixture(file);
    expect(code_hash).to.equal(local.hash);
    const stored = await Components(system.web.mongo).findById(id).lean();
    expect(stored?.bundle_hash).to.equal(createHash("sha256").update(local.code).digest("hex"));
  });

  it("component_code can't have relative imports: a 400 says so, and where", async () => {
    const code = await readFile(fixturePath("limits/deep-throw.mjs"), "utf8");
    const { status, body } = await api.request("POST", "/components", { body: { component_code: code } });
    expect(status).to.equal(400);
    expect(body.errors).to.deep.equal([
      {
        in: "body",
        path: "component_code",
        message:
          'the import "./parser.mjs" is relative, but component_code has no other files; use files or component_url instead (component.js, line 1, column 23)',
      },
    ]);
  });

  describe("an HTTP request", () => {
    it("becomes an event with method, path, query, headers, bodyRaw, body, url, client_ip (events/echo.mjs)", async () => {
      const source = await create("events/echo.mjs");
      const url = `${endpointOf(source)}/a/b?x=1&x=2&y=`;
      const raw = '{ "n":1.0 }\n';
      const headers = { ...JSON_TYPE, "X-Own": "Yes", "X-Forwarded-For": "6.6.6.6" };
      expect((await fetch(url, { method: "PUT", headers, body: raw })).status).to.equal(200);
      const [{ headers: given, ...event }] = await events(source, 1);
      expect(event).to.deep.equal({
        method: "PUT",
        path: "/a/b",
        query: { x: ["1", "2"], y: "" },
        bodyRaw: raw,
        body: { n: 1 },
        url,
        client_ip: "127.0.0.1",
      });
      expect(given).to.include({ "x-own": "Yes", "x-forwarded-for": "6.6.6.6", ...JSON_TYPE });
      await fetch(endpointOf(source), { method: "DELETE", body: new URLSearchParams({ a: "1", b: " " }) });
      const [, form] = await events(source, 2);
      expect(form).to.deep.include({
        method: "DELETE",
        path: "/",
        bodyRaw: "a=1&b=+",
        body: { a: "1", b: " " },
      });
    });

    it("has the exact text in bodyRaw, so that an HMAC over it matches (events/signed.mjs)", async () => {
      const source = await create("events/signed.mjs", { secret: "s3cret" });
      expect(JSON.stringify(source)).to.not.contain("s3cret");
      const body = '{"b" : 2,\r\n"ü":"\\u00fc"}';
      const signature = createHmac("sha256", "s3cret").update(body).digest("base64");
      await fetch(endpointOf(source), {
        method: "POST",
        headers: { ...JSON_TYPE, "x-signature": signature },
        body,
      });
      expect(await events(source, 1)).to.deep.equal([{ genuine: true, body: { b: 2, ü: "ü" } }]);
    });

    it("over 512 KB is rejected with 413; OPTIONS gets CORS headers (events/echo.mjs)", async () => {
      const endpoint = endpointOf(await create("events/echo.mjs"));
      const post = (bytes: number) => fetch(endpoint, { method: "POST", body: "x".repeat(bytes) });
      expect([(await post(512 * 1024)).status, (await post(512 * 1024 + 1)).status]).to.deep.equal([
        200, 413,
      ]);
      const options = await fetch(endpoint, { method: "OPTIONS" });
      expect(options.headers.get("access-control-allow-origin")).to.equal("*");
    });

    const responses: [query: string, status: number, type: string | null, body: string][] = [
      ["as=number", 201, "text/plain", "text"],
      ["as=text", 202, "application/json", '{"an":["object"]}'],
      ["as=bytes", 200, "application/octet-stream", "00ff07"],
      ["as=empty", 200, null, ""],
      ["as=number&twice=1", 201, "text/plain", "text"],
    ];
    it("gets its response from the code with customResponse: status as number or string, any body, once (events/responder.mjs)", async () => {
      const endpoint = endpointOf(await create("events/responder.mjs"));
      for (const [query, status, type, wanted] of responses) {
        const response = await fetch(`${endpoint}?${query}`);
        const body = Buffer.from(await response.arrayBuffer());
        expect(response.status, query).to.equal(status);
        if (type) expect(response.headers.get("content-type"), query).to.match(new RegExp(`^${type}`));
        expect(query === "as=bytes" ? body.toString("hex") : body.toString(), query).to.equal(wanted);
        if (query === "as=text") expect(response.headers.get("x-own")).to.equal("yes");
      }
      for (const query of ["", "throw=1"]) {
        const response = await fetch(`${endpoint}?${query}`);
        expect(response.status, query).to.equal(400);
        expect(await response.text()).to.contain("without a response");
      }
    });

    it("waits for respond in an imported file, and gets 200 if it is not called (events/respond-elsewhere.mjs)", async () => {
      const endpoint = endpointOf(await create("events/respond-elsewhere.mjs"));
      const response = await fetch(`${endpoint}/loud`, { method: "PATCH" });
      expect([response.status, await response.text()]).to.deep.equal([200, "PATCH /loud"]);
      expect((await fetch(`${endpoint}/quiet`)).status).to.equal(200);
    });
  });

  it("a listener receives the emitted value; if it throws, its db is saved and $errors contains the error", async () => {
    const [emitter, listener, database, thrower] = [
      await create("events/echo.mjs"),
      await create("events/listener.mjs"),
      await create("emit/database.mjs"),
      await create("limits/deep-throw.mjs"),
    ];
    const relay = await api.createSource({
      component_code: `export default { name: "Relay", version: "1", run({ body }) { this.$emit(body); } };`,
    });
    await api.subscribe(emitter.id, relay.id);
    for (const { id } of [listener, database, thrower]) await api.subscribe(relay.id, id);
    const post = (body: object) =>
      fetch(endpointOf(emitter), { method: "POST", headers: JSON_TYPE, body: JSON.stringify(body) });
    await post({ fail: true, value: 7 });
    await events(database, 1, "$errors");
    await post({ value: 8 });

    const heard = await until(async () => {
      const rows = await api.summaries(listener.id, { query: { expand: "event" } });
      return rows.length === 2 && rows.reverse();
    });
    expect(heard.map(({ event, metadata }) => [metadata.name, event.raw_event])).to.deep.equal([
      ["heard", { heard: { fail: true, value: 7 } }],
      ["heard", { heard: { value: 8 } }],
    ]);
    expect((await events(database, 2)).map(({ seen, shared }) => [seen, shared])).to.deep.equal([
      [[], 0],
      [[1], 1],
    ]);
    const [failed] = await events(thrower, 2, "$errors");
    expect(failed.original_event).to.deep.equal({ fail: true, value: 7 });
    expect(failed.original_context).to.include({ source_type: "event", owner_id: emitter.user_id });
    expect(failed.error).to.include({ code: "TypeError", cellId: thrower.component_id });
    expect(failed.error.stack)
      .to.match(/parser\.mjs:4:9/)
      .and.match(/deep-throw\.mjs:8:5/);
  });

  it("an instant source: deploy, activate, signed requests, update, delete (tidewatch/sources/high-tide)", async () => {
    tide.readings = [2, 1].map(reading);
    const file = "tidewatch/sources/high-tide/high-tide.mjs";
    const auth = { $auth: tide.auth };
    const rejected = await api.request("POST", "/sources", {
      body: {
        component_url: site.urlOf(file),
        configured_props: {
          station: "pier",
          tidewatch: { $auth: { ...tide.auth, oauth_access_token: "no" } },
        },
      },
    });
    expect(rejected.status).to.equal(400);
    expect(rejected.body.detail, "the API's message").to.contain("no token");

    const source = await create(file, { station: "pier", tidewatch: auth });
    const endpoint = endpointOf(source);
    expect(source.configured_props).to.deep.equal({ station: "pier", http: { endpoint_url: endpoint } });
    expect([...tide.hooks.values()]).to.deep.equal([endpoint]);
    const send = (body: string, signature = tide.sign(body)) =>
      fetch(endpoint, { method: "POST", headers: { ...JSON_TYPE, "X-Tide-Signature": signature }, body });
    expect(await (await send('{"challenge":"c1"}')).text()).to.equal("c1");
    expect((await send('{"reading":{}}', "0")).status).to.equal(401);
    expect((await send(JSON.stringify({ reading: reading(3) }))).status).to.equal(200);
    expect((await events(source, 3)).map(({ id }) => id)).to.deep.equal(["r1", "r2", "r3"]);

    const updated = await api.expect<SourceView>(200, "PUT", `/sources/${source.id}`, {
      body: { configured_props: { station: "quay" } },
    });
    expect(updated.configured_props).to.deep.equal({ station: "quay", http: { endpoint_url: endpoint } });
    const hookCalls = () => tide.requests.filter(request => !request.startsWith("GET"));
    expect(hookCalls().slice(-3)).to.deep.equal(["POST /hooks", "DELETE /hooks/h1", "POST /hooks"]);
    await api.expect(204, "DELETE", `/sources/${source.id}`);
    await until(() => tide.hooks.size === 0, { what: "the hook's removal" });
  });
});
