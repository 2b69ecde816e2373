import { expect } from "chai";
import { HEADERS, META, VERSIONS } from "../../src/mcp/protocol.ts";
import { type System, startSystem } from "../support/system.ts";
import { exchange, legacy, type McpRequest, MODERN, modern } from "./mcp.ts";

describe("mcp/endpoint", () => {
  let system: System;
  let api: Awaited<ReturnType<System["user"]>>;
  before(async () => {
    system = await startSystem({ RATE_LIMITS: "api:0" }, { workers: false });
    api = await system.user();
  });
  after(() => system.stop());

  const send = (request: McpRequest) => exchange(api, request);
  const outcome = async (request: McpRequest) => {
    const { status, json } = await send(request);
    return [status, json?.error?.code];
  };

  describe("the door", () => {
    it("is for POST only", async () => {
      for (const method of ["GET", "DELETE", "PUT", "OPTIONS"]) {
        const { status, headers } = await send({ method });
        expect([status, headers.allow], method).to.deep.equal([405, "POST"]);
      }
    });

    it("needs an API key, and takes no session in its place", async () => {
      const created = await api.request("POST", "/sessions", { body: { api_key: api.apiKey } });
      const cookie = created.headers
        .getSetCookie()
        .map(one => one.split(";")[0])
        .join("; ");
      expect(cookie).to.contain("headwater=");
      const { headers: modernHeaders, body } = modern("tools/list");
      const origin = new URL(api.baseUrl).origin;
      const others: Record<string, string>[] = [
        {},
        { cookie, origin },
        { authorization: "Bearer hw_unknown" },
      ];
      for (const headers of others) {
        const response = await exchange(Object.assign(Object.create(api), { apiKey: "" }), {
          headers: { ...modernHeaders, ...headers },
          body,
        });
        expect(response.status).to.equal(401);
        expect(response.headers["www-authenticate"]).to.match(/^Bearer /);
      }
    });

    it("rejects pages of other sites, and lets its own in", async () => {
      const from = (origin: string) => send(modern("tools/list", {}, { headers: { origin } }));
      expect((await from("https://evil.example")).status).to.equal(403);
      expect((await from("null")).status).to.equal(403);
      expect((await from(new URL(api.baseUrl).origin)).status).to.equal(200);
      const rebound = { host: "evil.example", origin: "http://evil.example" };
      const byItsName = await send(modern("tools/list", {}, { headers: rebound }));
      expect(byItsName.status, "a name of theirs that points here").to.equal(403);
    });

    it("knows no parameter but org_id, and no organization of others", async () => {
      const other = await system.user();
      const theirs = await system.organization(other.userId);
      const at = async (path: string) => (await send({ ...modern("tools/list"), path })).status;
      expect(await at(`/mcp?org_id=${await system.organization(api.userId)}`)).to.equal(200);
      expect(await at(`/mcp?org_id=${theirs}`)).to.equal(404);
      expect(await at("/mcp?org_id=o_none000000000000")).to.equal(404);
      expect(await at("/mcp?orgid=o_1")).to.equal(400);
      expect(await at("/mcp?org_id=a&org_id=b")).to.equal(400);
    });

    it("bounds bodies", async () => {
      const { headers } = modern("tools/list");
      const large = JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "x",
        params: { text: "x".repeat(1024 * 1024) },
      });
      expect((await send({ body: large, ...(headers && { headers }) })).status).to.equal(413);
      const deep = `{"jsonrpc":"2.0","id":1,"method":"ping","params":${'{"a":'.repeat(60)}1${"}".repeat(60)}}`;
      expect(await outcome({ body: deep })).to.deep.equal([400, -32600]);
      expect((await send({ body: "{}", headers: { "content-type": "text/plain" } })).status).to.equal(415);
    });
  });

  describe("a message", () => {
    it("is one JSON-RPC request", async () => {
      const bodies: [unknown, number][] = [
        ["{", -32700],
        ["", -32600],
        [[], -32600],
        [[{ jsonrpc: "2.0", id: 1, method: "ping" }], -32600],
        ['"ping"', -32600],
        [{ id: 1, method: "ping" }, -32600],
        [{ jsonrpc: "2.0", id: null, method: "ping" }, -32600],
        [{ jsonrpc: "2.0", id: 1.5, method: "ping" }, -32600],
        [{ jsonrpc: "2.0", id: {}, method: "ping" }, -32600],
        [{ jsonrpc: "2.0", id: 1, method: 5 }, -32600],
        [{ jsonrpc: "2.0", id: 1 }, -32600],
        [{ jsonrpc: "2.0", id: 1, method: "ping", params: [] }, -32602],
        ['{"jsonrpc":"2.0","id":1,"method":"ping","params":{"__proto__":{"a":1}}}', -32600],
        ['{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a\\u0000":1}}', -32600],
      ];
      for (const [body, code] of bodies) {
        expect(await outcome({ body }), JSON.stringify(body)).to.deep.equal([400, code]);
      }
    });

    it("is answered under its id, as it is", async () => {
      for (const id of [0, "", "a", -1]) {
        const { json } = await send({ body: { jsonrpc: "2.0", id, method: "ping" } });
        expect(json).to.deep.equal({ jsonrpc: "2.0", id, result: {} });
      }
    });

    it("is taken without an answer if it is a notification, or a response that nobody waits for", async () => {
      const notification = { jsonrpc: "2.0", method: "notifications/initialized" };
      const response = { jsonrpc: "2.0", id: 1, result: {} };
      for (const body of [notification, response]) {
        const { status, text } = await send({ body });
        expect([status, text]).to.deep.equal([202, ""]);
      }
      const { headers, body } = modern("notifications/cancelled", { requestId: 1 });
      const { id: _id, ...modernNotification } = body as { id: number };
      expect((await send({ ...(headers && { headers }), body: modernNotification })).status).to.equal(202);
    });
  });

  describe("a modern request", () => {
    it("is compared with its headers before it is judged", async () => {
      const mismatched: [string, McpRequest][] = [
        ["version", modern("tools/list", {}, { headers: { [HEADERS.version]: "2025-11-25" } })],
        ["unknown version", modern("tools/list", {}, { meta: { [META.version]: "2099-01-01" } })],
        ["no number", modern("tools/list", {}, { meta: { [META.version]: 5 } })],
        ["method", modern("tools/list", {}, { headers: { [HEADERS.method]: "tools/call" } })],
        ["name", modern("tools/call", { name: "search" }, { headers: { [HEADERS.name]: "get_source" } })],
        ["uri", modern("resources/read", { uri: "a:b" }, { headers: { [HEADERS.name]: "a:c" } })],
        [
          "bad base64",
          modern("tools/call", { name: "search" }, { headers: { [HEADERS.name]: "=?base64?!?=" } }),
        ],
      ];
      for (const [what, request] of mismatched) {
        expect(await outcome(request), what).to.deep.equal([400, -32020]);
      }
      for (const name of [HEADERS.version, HEADERS.method, HEADERS.name]) {
        const { headers = {}, body } = modern("tools/call", { name: "search", arguments: { q: "x" } });
        const { [name]: _left, ...others } = headers;
        expect(await outcome({ headers: others, body }), `without ${name}`).to.deep.equal([400, -32020]);
      }
    });

    it("may have its name in base64, where a header can't hold it", async () => {
      const named = `=?base64?${Buffer.from("get_account").toString("base64")}?=`;
      const request = modern("tools/call", { name: "get_account" }, { headers: { [HEADERS.name]: named } });
      expect((await send(request)).json.result.structuredContent.data.id).to.equal(api.userId);
    });

    it("is told the known versions if its own is another", async () => {
      const requested = "2099-01-01";
      const { status, json } = await send(
        modern(
          "tools/list",
          {},
          { headers: { [HEADERS.version]: requested }, meta: { [META.version]: requested } },
        ),
      );
      expect(status).to.equal(400);
      expect(json.error.code).to.equal(-32022);
      expect(json.error.data).to.deep.equal({ supported: [MODERN], requested });
    });

    it("says what its client can do", async () => {
      for (const meta of [{ [META.clientCapabilities]: undefined }, { [META.clientCapabilities]: [] }]) {
        expect(await outcome(modern("tools/list", {}, { meta }))).to.deep.equal([400, -32602]);
      }
      const bare = { headers: { [HEADERS.version]: MODERN, [HEADERS.method]: "tools/list" } };
      const body = { jsonrpc: "2.0", id: 1, method: "tools/list" };
      expect(await outcome({ ...bare, body })).to.deep.equal([400, -32602]);
    });

    it("finds no method that is unknown or older", async () => {
      for (const method of ["initialize", "ping", "logging/setLevel", "nothing", "toString", "__proto__"]) {
        expect(await outcome(modern(method)), method).to.deep.equal([404, -32601]);
      }
    });

    it("discovers versions, capabilities and instructions", async () => {
      const { status, json } = await send(modern("server/discover"));
      expect(status).to.equal(200);
      expect(json.result).to.deep.include({
        resultType: "complete",
        supportedVersions: [MODERN],
        cacheScope: "private",
      });
      expect(json.result.ttlMs).to.be.at.least(0);
      expect(json.result.capabilities).to.deep.equal({
        ...{ tools: {}, resources: {}, prompts: {}, events: {} },
        extensions: { "io.modelcontextprotocol/events": {} },
      });
      expect(json.result.instructions).to.contain("never as instructions");
      expect(json.result._meta[META.serverInfo]).to.deep.include({ name: "headwater" });
    });

    it("learns how long it may keep each list", async () => {
      for (const method of ["tools/list", "resources/list", "resources/templates/list"]) {
        const { result } = (await send(modern(method))).json;
        expect(result, method).to.deep.include({ resultType: "complete", cacheScope: "private" });
        expect(result.ttlMs, method).to.be.at.least(0);
      }
    });
  });

  describe("a legacy client", () => {
    it("gets the version that it asks for, or the newest of its kind", async () => {
      const initialize = async (protocolVersion: unknown) =>
        (
          await send({
            body: {
              jsonrpc: "2.0",
              id: 1,
              method: "initialize",
              params: { protocolVersion, capabilities: {} },
            },
          })
        ).json;
      for (const version of VERSIONS.legacy) {
        const { result } = await initialize(version);
        expect(result.protocolVersion).to.equal(version);
        expect(result).to.have.all.keys("protocolVersion", "capabilities", "serverInfo", "instructions");
      }
      for (const version of ["2024-11-05", MODERN, "2099-01-01"]) {
        expect((await initialize(version)).result.protocolVersion, version).to.equal("2025-11-25");
      }
      expect((await initialize(undefined)).error.code).to.equal(-32602);
    });

    it("needs no headers and gets no modern fields", async () => {
      const { status, json } = await send({ body: { jsonrpc: "2.0", id: 1, method: "tools/list" } });
      expect(status).to.equal(200);
      expect(json.result).to.have.all.keys("tools");
    });

    it("is told of an unknown method under 200, and of an unknown version under 400", async () => {
      expect(await outcome(legacy("nothing"))).to.deep.equal([200, -32601]);
      expect(await outcome(legacy("server/discover"))).to.deep.equal([200, -32601]);
      const { body } = legacy("ping");
      const other = { headers: { [HEADERS.version]: "1999-01-01" }, body };
      expect(await outcome(other)).to.deep.equal([400, -32022]);
    });
  });
});

describe("mcp/endpoint of an installation", () => {
  it("is not there with MCP=off", async () => {
    const system = await startSystem({ MCP: "off" }, { workers: false });
    try {
      const api = await system.user();
      expect((await exchange(api, modern("server/discover"))).status).to.equal(404);
      expect((await exchange(api, { method: "GET" })).status).to.equal(404);
    } finally {
      await system.stop();
    }
  });

  it("counts requests with those of the API", async () => {
    const system = await startSystem({ RATE_LIMITS: "api:1" }, { workers: false });
    try {
      const api = await system.user();
      const statuses = new Set<number>();
      for (let i = 0; i < 8; i++) statuses.add((await exchange(api, modern("tools/list"))).status);
      expect([...statuses].sort()).to.deep.equal([200, 429]);
      expect((await api.request("GET", "/users/me")).status, "the same count").to.equal(429);
    } finally {
      await system.stop();
    }
  });
});
