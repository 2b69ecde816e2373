import { Writable } from "node:stream";
import { expect } from "chai";
import { pino } from "pino";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { ApiKeys } from "../../src/models/user.ts";
import { openPlatform, type Platform } from "../../src/platform.ts";
import { startWeb, type WebServer } from "../../src/server.ts";
import { Api } from "../support/api.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";
import { callTool, exchange, legacy, modern } from "./mcp.ts";

describe("a connector URL", () => {
  let system: System;
  let web: Platform;
  let server: WebServer;
  let api: Awaited<ReturnType<System["user"]>>;
  let stranger: Api;
  /** What this web process has logged. */
  let lines = "";
  before(async () => {
    system = await startSystem({ RATE_LIMITS: "api:0", MCP: "write" }, { workers: false });
    const sink = new Writable({
      write(chunk, _encoding, done) {
        lines += String(chunk);
        done();
      },
    });
    const config = { ...system.web.config, port: 0 };
    web = await openPlatform(config, "web", { log: pino({ base: null, level: "trace" }, sink) });
    server = await startWeb(web, { checkResponses: true });
    const publicUrl = `http://127.0.0.1:${server.port}`;
    Object.defineProperty(web, "config", { value: { ...config, publicUrl } });
    const { apiKey, userId } = await system.user();
    api = Object.assign(new Api(`${publicUrl}/v1`, apiKey), { userId });
    stranger = new Api(api.baseUrl, "");
  });
  after(async () => {
    await server?.close();
    await web?.close();
    await system?.stop();
  });

  const create = (body: object = {}) => api.expect(201, "POST", "/connector_urls", { body });
  const pathOf = ({ url }: { url: string }) => new URL(url).pathname;
  /** Sends no header `Authorization` of any use. */
  const at = async (path: string, request = modern("tools/list")) =>
    await exchange(stranger, { ...request, path });

  it("connects a host that sends no key, reads by default, and is listed with its last use", async () => {
    const made = await create({ name: "ChatGPT" });
    expect(made).to.include({ kind: "connector_url", name: "ChatGPT", access: "read", expires_at: null });
    expect(made.url).to.match(/\/mcp\/c\/hwc_[\w-]{43}$/);
    expect(made).not.to.have.property("api_key");
    for (const request of [modern("tools/list"), legacy("tools/list")]) {
      const { status, json } = await at(pathOf(made), request);
      expect(status).to.equal(200);
      expect(json.result.tools.map(({ name }: { name: string }) => name)).to.include("list_sources");
    }
    const { structuredContent } = await callTool(stranger, "get_account", {}, pathOf(made));
    expect(structuredContent.data.id).to.equal(api.userId);
    const listed = await until(async () => {
      const [row] = await api.expect(200, "GET", "/api_keys");
      return row.last_used_at !== null && row;
    });
    expect(listed).to.include({
      id: made.id,
      kind: "connector_url",
      prefix: "hwc_".concat(tokenOf(made).slice(4, 7)),
    });
  });

  const tokenOf = (made: { url: string }) => pathOf(made).split("/").at(-1) ?? "";

  it("changes things only with full access, ?write=1 and the operator's word", async () => {
    const write = async (access: string, query: string) => {
      const { json } = await at(`${pathOf(await create({ access }))}${query}`);
      return json.result.tools.some(({ name }: { name: string }) => name === "publish_event");
    };
    expect(await write("full", "?write=1")).to.equal(true);
    expect(await write("full", "")).to.equal(false);
    expect(await write("read", "?write=1")).to.equal(false);
  });

  it("is of no use anywhere else, nor is an API key in an address", async () => {
    const made = await create({ access: "full" });
    const token = tokenOf(made);
    const bearer = new Api(api.baseUrl, token);
    expect((await bearer.request("GET", "/users/me")).status).to.equal(401);
    expect((await exchange(bearer, modern("tools/list"))).status).to.equal(401);
    expect((await stranger.request("POST", "/sessions", { body: { api_key: token } })).status).to.equal(401);
    expect(
      (await stranger.request("GET", "/users/me", { headers: { cookie: `headwater=${token}` } })).status,
    ).to.equal(401);
    expect((await at(`/mcp/c/${api.apiKey}`)).status).to.equal(404);
    // Its hash is under another prefix than a key's, so what was stolen from the store is of no use either.
    const row = await ApiKeys(system.worker.mongo).findById(made.id).lean();
    expect(JSON.stringify(row)).not.to.include(token);
    expect((await at(`/mcp/c/${row?.hash}`)).status).to.equal(404);
  });

  it("is 404 once it is revoked or has expired, and for what never was one", async () => {
    const made = await create();
    expect((await at(pathOf(made))).status).to.equal(200);
    await api.expect(204, "DELETE", `/api_keys/${made.id}`);
    const gone = await at(pathOf(made));
    expect([gone.status, gone.json.detail]).to.deep.equal([
      404,
      "this address is unknown or revoked, or has expired",
    ]);
    const ending = await create({ expires_at: Math.floor(Date.now() / 1000) + 1 });
    await until(async () => (await at(pathOf(ending))).status === 404);
    for (const path of [
      `/mcp/c/hwc_${"A".repeat(43)}`,
      "/mcp/c/",
      "/mcp/c/x/y",
      `${pathOf(await create())}/`,
    ]) {
      expect((await at(path)).status, path).to.equal(404);
    }
    expect((await exchange(stranger, { method: "GET", path: pathOf(await create()) })).status).to.equal(405);
  });

  it("may be made with read and full access only, like a key otherwise", async () => {
    const rejected = async (body: object) => (await api.request("POST", "/connector_urls", { body })).status;
    expect(await rejected({ access: "publish" })).to.equal(400);
    expect(await rejected({ expires_at: 1 })).to.equal(400);
    expect(await rejected({ emitter_ids: ["p_0123456789ABCDEF"] })).to.equal(400);
    const reading = await api.expect(201, "POST", "/api_keys", { body: { access: "read" } });
    const asReader = new Api(api.baseUrl, reading.api_key);
    expect((await asReader.request("POST", "/connector_urls")).status).to.equal(403);
  });

  it("is in no log line, metric or entry of the audit log", async () => {
    const made = await create({ name: "secretive" });
    const token = tokenOf(made);
    await at(pathOf(made));
    await at(pathOf(made), { ...modern("tools/list"), headers: { "mcp-method": "wrong" } });
    await at(pathOf(made), { method: "GET" });
    await at(`${pathOf(made)}x`);
    await until(async () => lines.split("/mcp/c/{token}").length > 4);
    const audit = JSON.stringify((await api.request("GET", "/users/me/audit_log")).body);
    expect(audit).to.include("secretive");
    const { body: metrics } = await web.metrics.expose();
    expect(metrics).to.include('route="/mcp/c/{token}"');
    for (const [where, text] of Object.entries({ lines, audit, metrics })) {
      expect(text.includes(token.slice(8)), where).to.equal(false);
    }
  });

  it("can't be guessed: an address has a few tries a minute", async () => {
    const statuses: number[] = [];
    for (let n = 0; n <= LIMITS.unknownKeys.value; n++) {
      const path = `/mcp/c/hwc_${String(n).padStart(43, "A")}`;
      statuses.push((await exchange(stranger, { ...legacy("ping"), path, headers: {} })).status);
    }
    expect(statuses.at(-1)).to.equal(429);
  });
});
