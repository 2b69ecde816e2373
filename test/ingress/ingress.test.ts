import { createHmac } from "node:crypto";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { expect } from "chai";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { RunRecords } from "../../src/models/run.ts";
import { openPlatform, type Platform } from "../../src/platform.ts";
import { startWeb, type WebServer } from "../../src/server.ts";
import { send, sendRaw } from "../sources/http-client.ts";
import type { Api, SourceView } from "../support/api.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";

const ECHO = `import { createHmac } from "node:crypto";
export default { name: "Echo", version: "0.0.1", props: { http: "$.interface.http" },
  run(event) {
    const hmac = createHmac("sha256", "key").update(event.bodyRaw).digest("hex");
    this.$emit(event.bodyRaw.length > 10_000 ? { length: event.bodyRaw.length, hmac } : { ...event, hmac });
  } };`;

/** Responds as the request's body says. */
const RESPONDING = `export default { name: "Responding", version: "0.0.1",
  props: { http: { type: "$.interface.http", customResponse: true } },
  async run({ body }) {
    if (body.never) await new Promise(() => {});
    if (body.silent) return;
    if (body.bytes) body.response.body = Buffer.from(body.bytes, "base64");
    await this.http.respond(body.response);
    this.http.respond({ status: 418, body: "the second" });
    this.$emit("after");
  } };`;

/** Responds to some requests itself, without `customResponse`. */
const SOMETIMES = `export default { name: "Sometimes", version: "0.0.1", props: { http: "$.interface.http" },
  run({ path }) {
    if (path === "/throw") throw new Error("no");
    if (path === "/mine") this.http.respond({ status: 202, body: "mine" });
  } };`;

const LIMIT = 512 * 1024;

describe("requests to a source", () => {
  let system: System;
  let api: Api;
  let echo: SourceView;
  let echoUrl: string;
  let responding: string;
  before(async () => {
    system = await startSystem({ TIMEOUTS: "response:4s" });
    api = await system.user();
    [echo, responding] = await Promise.all([
      api.createSource({ component_code: ECHO }),
      api.createSource({ component_code: RESPONDING }).then(endpointOf),
    ]);
    echoUrl = endpointOf(echo);
  });
  after(() => system.stop());

  const endpointOf = (source: SourceView) => source.configured_props.http?.endpoint_url ?? "";

  /** Returns the event that `run` received for the request with this response, which has the run id. */
  function eventOf(text: string) {
    const { run_id } = JSON.parse(text);
    return until(
      async () => {
        const rows = await api.summaries(echo.id, { query: { expand: "event", limit: 100 } });
        return rows.find(row => row.metadata.emit_id === `${run_id}-0`)?.event.raw_event;
      },
      { what: `the event of ${run_id}` },
    );
  }

  /** Sends a request to the responding source; `instructions` say what it shall do. */
  const request = (instructions: object, options: { method?: string } = {}) =>
    send(responding, {
      ...options,
      headers: { "content-type": "application/json" },
      body: [JSON.stringify(instructions)],
    });

  it("are accepted with 200 and the run's id before the run", async () => {
    const slow = await api.createSource({
      component_code: `export default { name: "Slow", version: "0.0.1", props: { http: "$.interface.http" },
        async run() { await new Promise(resolve => setTimeout(resolve, 1000)); } };`,
    });
    const response = await send(endpointOf(slow));
    const { run_id } = JSON.parse(response.text);
    expect(await RunRecords(system.web.mongo).exists({ _id: run_id })).to.equal(null);
    expect(response.status).to.equal(200);
    expect(response.headers["content-type"]).to.include("application/json");
    expect(response.headers["x-request-id"]).to.be.a("string");
    await until(() => RunRecords(system.web.mongo).exists({ _id: run_id }), { what: "the run's record" });
  });

  for (const method of ["GET", "PUT", "DELETE", "PATCH", "PROPFIND", "PURGE", "TRACE"]) {
    it(`may use the method ${method}`, async () => {
      const response = await send(echoUrl, { method, path: "/some/path?a=1&a=2&b=" });
      expect(response.status).to.equal(200);
      const event = await eventOf(response.text);
      expect(event).to.deep.include({ method, path: "/some/path", query: { a: ["1", "2"], b: "" } });
      expect(event.url).to.equal(`${echoUrl}/some/path?a=1&a=2&b=`);
      expect(event.client_ip).to.equal("127.0.0.1");
    });
  }

  it("may use the method HEAD, whose response has no body", async () => {
    const response = await send(echoUrl, { method: "HEAD" });
    expect([response.status, response.text]).to.deep.equal([200, ""]);
  });

  it("arrive with headers in lower case, as they were sent, and with the exact text of the body", async () => {
    const raw = '{ "a" : 1.0,\r\n\t"ü": "\\u00fc \u{1f600}" }\n';
    const response = await send(echoUrl, {
      headers: {
        "Content-Type": "application/json",
        "X-Hub-Signature": "sha256=1",
        "X-Forwarded-For": "6.6.6.6",
        "X-Real-IP": "6.6.6.6",
        "X-Request-Id": "of the sender",
        Cookie: "a=1",
      },
      body: [raw],
    });
    const event = await eventOf(response.text);
    expect(event.bodyRaw).to.equal(raw);
    expect(event.hmac).to.equal(createHmac("sha256", "key").update(raw).digest("hex"));
    expect(event.body).to.deep.equal({ a: 1, ü: "ü \u{1f600}" });
    expect(event.headers).to.include({
      ...{
        "x-hub-signature": "sha256=1",
        cookie: "a=1",
        "x-forwarded-for": "6.6.6.6",
        "x-real-ip": "6.6.6.6",
      },
      "x-request-id": "of the sender",
    });
    expect(event.headers).not.to.have.any.keys("connection");
    expect(event.client_ip).to.equal("127.0.0.1");
  });

  it("may have a form, invalid JSON or nothing as their body", async () => {
    const form = new FormData();
    form.set("name", "value");
    form.set("file", new Blob(["text"]), "a.txt");
    const encoded = new Response(form);
    const multipart = Buffer.from(await encoded.arrayBuffer());
    const requests: [string, (string | Buffer)[], unknown][] = [
      ["application/x-www-form-urlencoded", ["a=1&b=%20"], { a: "1", b: " " }],
      ["application/json", ['{"a":'], '{"a":'],
      ["application/json", [], null],
      ["text/plain", [], ""],
      [
        encoded.headers.get("content-type") ?? "",
        [multipart],
        { name: "value", file: { filename: "a.txt", type: "application/octet-stream", content: "text" } },
      ],
    ];
    for (const [type, body, expected] of requests) {
      const response = await send(echoUrl, { headers: { "content-type": type }, body });
      expect((await eventOf(response.text)).body, type).to.deep.equal(expected);
    }
  });

  it("may have a body of up to 512 KB; a larger one is rejected with 413 and starts no run", async () => {
    const full = await send(echoUrl, { body: [Buffer.alloc(LIMIT, "\u0001")] });
    expect((await eventOf(full.text)).length).to.equal(LIMIT);
    const declared = await send(echoUrl, {
      headers: { "content-length": LIMIT + 1 },
      body: [Buffer.alloc(LIMIT + 1)],
    });
    const chunked = await send(echoUrl, { body: Array.from({ length: 9 }, () => Buffer.alloc(64 * 1024)) });
    // A body that is declared but never sent is rejected without waiting for it.
    const unsent = await sendRaw(
      echoUrl,
      `POST ${new URL(echoUrl).pathname} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 99999999999\r\n\r\n`,
    );
    for (const { status, text } of [declared, chunked]) {
      expect(status).to.equal(413);
      expect(JSON.parse(text)).to.include({ status: 413, title: "Too large" });
    }
    expect(unsent).to.match(/^HTTP\/1\.1 413 /);
    expect(await system.web.runQueue.length(echo.id)).to.equal(0);
  });

  it("may be compressed; the limit holds for the decompressed body", async () => {
    const text = JSON.stringify({ a: "ü".repeat(1000) });
    const encodings: [string, Buffer][] = [
      ["gzip", gzipSync(text)],
      ["Deflate", deflateSync(text)],
      ["br", brotliCompressSync(text)],
      ["identity", Buffer.from(text)],
      ["gzip, br", brotliCompressSync(gzipSync(text))],
    ];
    const encoded = (encoding: string, body: Buffer) =>
      send(echoUrl, {
        headers: { "content-type": "application/json", "content-encoding": encoding },
        body: [body],
      });
    for (const [encoding, body] of encodings) {
      const event = await eventOf((await encoded(encoding, body)).text);
      expect(event.bodyRaw, encoding).to.equal(text);
      expect(event.body, encoding).to.deep.equal(JSON.parse(text));
    }
    const bomb = gzipSync(Buffer.alloc(50 * 1024 * 1024));
    const statuses = [
      await encoded("gzip", bomb),
      await encoded("gzip", Buffer.from("not gzip")),
      await encoded("gzip, gzip, gzip", gzipSync(gzipSync(gzipSync(text)))),
    ].map(({ status }) => status);
    expect(statuses).to.deep.equal([413, 400, 400]);
  });

  it("are rejected if their JSON is nested too deeply, and the source goes on", async () => {
    const failing = await api.createSource({
      component_code: `export default { name: "Failing", version: "0.0.1", props: { http: "$.interface.http" },
        run() { throw new Error("always"); } };`,
    });
    const request = (levels: number) =>
      send(endpointOf(failing), {
        headers: { "content-type": "application/json" },
        body: [`{"a":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`],
      });
    const { jsonDepth } = LIMITS;
    for (const levels of [jsonDepth.value + 1, 4000, 4180, 5000, 100_000]) {
      const { status, text } = await request(levels);
      expect([levels, status]).to.deep.equal([levels, 400]);
      expect(JSON.parse(text).errors[0]).to.include({ in: "body" });
    }
    expect((await request(jsonDepth.value)).status).to.equal(200);
    await until(async () => (await api.summaries(failing.id, { stream: "$errors" })).length === 1, {
      what: "the error event",
    });
    await api.expect(200, "PUT", `/sources/${failing.id}`, { body: { name: "still there" } });
    expect((await api.request("DELETE", `/sources/${failing.id}`)).status).to.equal(204);
  });

  it("cost no query for a name that can't be an endpoint's", async () => {
    const { origin } = new URL(echoUrl);
    const { db } = system.web.mongo;
    if (!db) throw new Error("not connected");
    await db.command({ profile: 2 });
    const names = [
      "",
      "/",
      "//x",
      "/short",
      `/${"a".repeat(33)}`,
      `/${"%".repeat(32)}`,
      `/${"a".repeat(31)}-/b`,
    ];
    for (const name of names) {
      expect((await send(`${origin}/`, { method: "GET", path: `in${name}` })).status, name).to.equal(404);
    }
    expect((await send(`${origin}/`, { method: "GET", path: `in/${"a".repeat(32)}` })).status).to.equal(404);
    await db.command({ profile: 0 });
    const queries = await db.collection("system.profile").countDocuments({
      "command.find": "sources",
      "command.filter.endpoint": { $exists: true },
    });
    expect(queries).to.equal(1);
  });

  const paths: [string, string, string][] = [
    ["", "", "/"],
    ["/", "", "/"],
    ["//a//b/", "", "//a//b/"],
    ["/%2e%2e/a%2Fb/%00/%zz", "", "/%2e%2e/a%2Fb/%00/%zz"],
    ["/../../v1/users/me", "", "/../../v1/users/me"],
    ["/;a=1/(b)/'c'/\"d\"", "", "/;a=1/(b)/'c'/\"d\""],
    ["/q", "?%zz=%&a=%F0%9F%98%80&=1&a[b]=2", "/q"],
    ["/q", "??a=1?b=2", "/q"],
    ["", "?", "/"],
  ];
  for (const [path, query, expectedPath] of paths) {
    it(`may go to the path ${JSON.stringify(path + query)}`, async () => {
      const target = new URL(echoUrl).pathname + path + query;
      const response = await sendRaw(
        echoUrl,
        `GET ${target} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`,
      );
      expect(response).to.match(/^HTTP\/1\.1 200 OK/);
      const event = await eventOf(response.slice(response.lastIndexOf("{")));
      expect(event.path).to.equal(expectedPath);
      expect(event.query).to.deep.equal(Object.fromEntries(new URLSearchParams(query)));
    });
  }

  const heads: [string, (target: string) => string][] = [
    ["no host, as HTTP/1.0 allows", target => `GET ${target}?a=1 HTTP/1.0\r\n\r\n`],
    ["an invalid host", target => `GET ${target}?a=1 HTTP/1.1\r\nhost: [a b]:x\r\nconnection: close\r\n\r\n`],
    [
      "an absolute URL of another site",
      target => `GET http://evil.example${target}?a=1 HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`,
    ],
  ];
  for (const [what, head] of heads) {
    it(`may have ${what}`, async () => {
      const response = await sendRaw(echoUrl, head(`${new URL(echoUrl).pathname}/odd`));
      expect(response).to.match(/^HTTP\/1\.1 200 OK/);
      const event = await eventOf(response.slice(response.lastIndexOf("{")));
      expect(event).to.deep.include({ path: "/odd", query: { a: "1" }, url: `${echoUrl}/odd?a=1` });
    });
  }

  it("are not found for an unknown, misspelled, disabled or deleted source", async () => {
    const [, token = ""] = /([^/]+)$/.exec(echoUrl) ?? [];
    for (const path of [
      "/in",
      "/in/",
      "/in//",
      "/in/nobody",
      `/in/${token}%20`,
      `/in/${token.toLowerCase()}x`,
    ]) {
      const response = await send(new URL(path, echoUrl).href);
      expect(response.status, path).to.equal(404);
      expect(JSON.parse(response.text).title).to.equal("Not found");
    }
    const source = await api.createSource({ component_code: ECHO });
    await api.expect(200, "PUT", `/sources/${source.id}`, { body: { active: false } });
    for (const method of ["POST", "OPTIONS"]) {
      expect((await send(endpointOf(source), { method })).status).to.equal(404);
    }
    await api.expect(200, "PUT", `/sources/${source.id}`, { body: {} });
    expect((await send(endpointOf(source))).status).to.equal(200);
    await api.expect(204, "DELETE", `/sources/${source.id}`);
    expect((await send(endpointOf(source))).status).to.equal(404);
  });

  it("from a browser on another site are allowed, and OPTIONS starts no run", async () => {
    const { headers, status, text } = await send(echoUrl, {
      method: "OPTIONS",
      headers: { origin: "https://a.example", "access-control-request-headers": "X-Mine, content-type" },
    });
    expect([status, text]).to.deep.equal([204, ""]);
    expect(headers).to.include({
      "access-control-allow-origin": "*",
      "access-control-allow-headers": "X-Mine, content-type",
    });
    expect(headers["access-control-allow-methods"]).to.include("PATCH");
    expect((await send(echoUrl)).headers["access-control-allow-origin"]).to.equal("*");
  });

  describe("that the component responds to itself", () => {
    const responses: [string, object, { status: number; type?: RegExp; text: string }][] = [
      [
        "a string",
        { status: 201, body: "made" },
        { status: 201, type: /^text\/plain; charset=utf-8/, text: "made" },
      ],
      ["a status as a string", { status: "404", body: "none" }, { status: 404, text: "none" }],
      ["an object", { body: { a: [1] } }, { status: 200, type: /^application\/json/, text: '{"a":[1]}' }],
      ["nothing", {}, { status: 200, text: "" }],
      ["a number", { body: 7 }, { status: 200, text: "7" }],
      [
        "a content type",
        { headers: { "Content-Type": "text/x-mine" }, body: "x" },
        { status: 200, type: /^text\/x-mine$/, text: "x" },
      ],
      ["a status without a name", { status: 299, body: "odd" }, { status: 299, text: "odd" }],
      ["the last status", { status: 599 }, { status: 599, text: "" }],
      ["a 204, whose body is ignored", { status: 204, body: "ignored" }, { status: 204, text: "" }],
      ["a redirect", { status: 302, headers: { location: "https://a.example/" } }, { status: 302, text: "" }],
    ];
    for (const [what, sent, expected] of responses) {
      it(`may receive ${what}`, async () => {
        const response = await request({ response: sent });
        expect([response.status, response.text]).to.deep.equal([expected.status, expected.text]);
        if (expected.type) expect(response.headers["content-type"]).to.match(expected.type);
      });
    }

    it("may receive any bytes", async () => {
      const bytes = Buffer.from(Array.from({ length: 256 }, (_, i) => i));
      const response = await request({ response: {}, bytes: bytes.toString("base64") });
      expect(response.body.equals(bytes)).to.equal(true);
      expect(response.headers["content-type"]).to.equal("application/octet-stream");
    });

    it("receive the component's headers, except those that speak for the connection or the whole host", async () => {
      const headers = {
        "X-Mine": "1",
        "Set-Cookie": "a=1; HttpOnly",
        "WWW-Authenticate": 'Basic realm="Headwater"',
        "Clear-Site-Data": '"*"',
        "X-Request-Id": "forged",
        "X-Accel-Redirect": "/etc/passwd",
        "Content-Length": "1",
        "Transfer-Encoding": "chunked",
        Connection: "upgrade",
        Upgrade: "websocket",
        "Keep-Alive": "timeout=1",
        "Content-Security-Policy": "default-src *",
        "X-Content-Type-Options": "none",
        "X-Latin": "caf\u00e9",
      };
      const response = await request({ response: { headers, body: "<script>1</script>" } });
      expect(response.text).to.equal("<script>1</script>");
      expect(response.headers).to.include({ "x-mine": "1", "x-latin": "caf\u00e9", "content-length": "18" });
      expect(response.headers["content-security-policy"]).to.equal("sandbox");
      expect(response.headers["x-content-type-options"]).to.equal("nosniff");
      expect(response.headers["x-request-id"]).not.to.equal("forged");
      expect(response.headers).not.to.have.any.keys(
        ...["transfer-encoding", "upgrade", "set-cookie", "www-authenticate", "clear-site-data"],
        "x-accel-redirect",
      );
      expect(response.headers.connection).not.to.equal("upgrade");
    });

    const hostile: [string, object][] = [
      ["a line break in a header", { headers: { "x-a": "1\r\nset-cookie: evil=1" } }],
      ["a line break in a header name", { headers: { "x-a: 1\r\nx-evil": "1" } }],
      ["a character that headers may not have", { headers: { "x-a": "\u{1f600}" } }],
      ["an invalid status", { status: 99 }],
      ["a status that is not a number", { status: "ok" }],
      ["an interim status", { status: 101 }],
    ];
    for (const [what, sent] of hostile) {
      it(`receive a 400 for ${what}, without any of its headers`, async () => {
        const response = await request({ response: sent });
        expect(response.status).to.equal(400);
        expect(response.headers).not.to.have.any.keys("set-cookie", "x-evil", "x-a");
        expect((await request({ response: { body: "still there" } })).text).to.equal("still there");
      });
    }

    it("receive its first response", async () => {
      const response = await request({ response: { status: 200, body: "first" } });
      expect(response.text).to.equal("first");
    });

    it("receive a 400 if it ends without a response", async () => {
      const response = await request({ silent: true });
      expect(response.status).to.equal(400);
      expect(JSON.parse(response.text).detail).to.include("without a response");
    });

    it("receive only the headers of its response to HEAD", async () => {
      const body = JSON.stringify({ response: { status: 202, body: "abc" } });
      const response = await send(responding, {
        method: "HEAD",
        headers: { "content-type": "application/json", "content-length": body.length },
        body: [body],
      });
      expect([response.status, response.text, response.headers["content-length"]]).to.deep.equal([
        202,
        "",
        "3",
      ]);
    });

    it("wait for a component that sometimes responds, and receive the run's id if it does not", async () => {
      const url = endpointOf(await api.createSource({ component_code: SOMETIMES }));
      const mine = await send(url, { path: "/mine" });
      expect([mine.status, mine.text]).to.deep.equal([202, "mine"]);
      for (const path of ["/none", "/throw"]) {
        const none = await send(url, { path });
        expect(none.status).to.equal(200);
        expect(JSON.parse(none.text)).to.have.keys(["run_id"]);
      }
    });

    it("receive a 504 if it never responds @long", async () => {
      const url = endpointOf(await api.createSource({ component_code: RESPONDING, name: "never" }));
      const response = await send(url, {
        headers: { "content-type": "application/json" },
        body: ['{"never":true}'],
      });
      expect(response.status).to.equal(504);
      expect(JSON.parse(response.text)).to.include({ status: 504 });
    });
  });

  it("are rejected with 429 while too many wait for their source", async () => {
    const source = await api.createSource({ component_code: ECHO });
    const runQueue = system.web.keys.runQueue(source.id);
    await system.web.redis.rpush(runQueue, ...Array.from({ length: 10_000 }, () => "{}"));
    const response = await send(endpointOf(source));
    expect(response.status).to.equal(429);
    expect(Number(response.headers["retry-after"])).to.be.greaterThan(0);
    expect(await system.web.runQueue.length(source.id)).to.equal(10_000);
    await system.web.redis.del(runQueue);
    expect((await send(endpointOf(source))).status).to.equal(200);
  });

  describe("with other settings", () => {
    let web: Platform;
    let server: WebServer;
    before(async () => {
      const config = { ...system.web.config, trustProxy: true, ingressPerSecond: 3, port: 0 };
      web = await openPlatform(config, "web");
      server = await startWeb(web);
    });
    after(async () => {
      await server.close();
      await web.close();
    });

    const endpointThere = (source: SourceView) =>
      Object.assign(new URL(endpointOf(source)), { port: String(server.port) }).href;

    it("have the client IP that the proxy in front appends, not one that the sender writes", async () => {
      const response = await send(endpointThere(echo), {
        headers: {
          "x-forwarded-for": "6.6.6.6, 203.0.113.7",
          "x-forwarded-proto": "https",
          "x-forwarded-host": "evil.example",
        },
      });
      const event = await eventOf(response.text);
      expect(event.client_ip).to.equal("203.0.113.7");
      expect(event.url).to.equal(`${echoUrl}`);
      expect(event.headers).to.include({ "x-forwarded-for": "6.6.6.6", "x-forwarded-host": "evil.example" });
      expect(event.headers).not.to.have.any.keys("x-forwarded-proto");
    });

    it("are limited per second for each endpoint, with Retry-After", async () => {
      const [one, other] = await Promise.all([
        api.createSource({ component_code: ECHO }),
        api.createSource({ component_code: ECHO }),
      ]);
      const responses = await Promise.all(Array.from({ length: 12 }, () => send(endpointThere(one))));
      const rejected = responses.filter(({ status }) => status === 429);
      expect(rejected.length).to.be.within(6, 9);
      for (const { headers } of rejected) expect(Number(headers["retry-after"])).to.equal(1);
      expect((await send(endpointThere(other))).status).to.equal(200);
      await until(async () => (await send(endpointThere(one))).status === 200, { what: "the next second" });
    });
  });
});
