import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { expect } from "chai";
import { MODERN, modern } from "../mcp/mcp.ts";
import type { Api } from "../support/api.ts";
import { programOf } from "../support/built.ts";
import { startReceiver } from "../support/receiver.ts";
import { type System, startSystem } from "../support/system.ts";
import { startHeadwater } from "./command.ts";

describe("headwater mcp", () => {
  let system: System;
  let api: Api;
  let env: Record<string, string>;
  before(async () => {
    system = await startSystem({ RATE_LIMITS: "api:0", MCP: "write" }, { workers: false });
    api = await system.user();
    await api.createWebhook("https://example.com/hook", { name: "orders" });
    env = { HEADWATER_URL: system.baseUrl, HEADWATER_API_KEY: api.apiKey };
  });
  after(() => system.stop());

  /** Writes these lines and returns the lines that come back until the end. */
  async function exchange(lines: unknown[], changes: Record<string, string> = {}, options: string[] = []) {
    const command = startHeadwater(["mcp", ...options], { ...env, ...changes });
    for (const line of lines) command.type(`${typeof line === "string" ? line : JSON.stringify(line)}\n`);
    command.endInput();
    const { code, stdout, stderr } = await command.ended;
    expect(code, stderr).to.equal(0);
    const messages = stdout.split("\n").filter(line => line !== "");
    return messages.map(line => JSON.parse(line)).sort((a, b) => a.id - b.id);
  }

  it("serves the client of an SDK as the server does", async () => {
    const client = new Client({ name: "headwater-tests", version: "1" });
    const [program = "", ...args] = [
      process.execPath,
      ...programOf("src/cli/main.ts", { built: "bin/headwater" }),
      "mcp",
    ];
    const transport = new StdioClientTransport({
      command: program,
      args,
      env: { ...env, PATH: process.env.PATH ?? "" },
    });
    await client.connect(transport);
    try {
      const { structuredContent } = await client.callTool({ name: "list_webhooks", arguments: {} });
      expect((structuredContent as { data: { name: string }[] }).data.map(({ name }) => name)).to.deep.equal([
        "orders",
      ]);
    } finally {
      await client.close();
    }
  });

  it("gives modern messages their headers, also for a name that a header can't hold", async () => {
    const request = (id: number, method: string, params: object) => ({
      ...(modern(method, { ...params }).body as object),
      id,
    });
    const [discovered, account, unknown, read] = await exchange([
      request(1, "server/discover", {}),
      request(2, "tools/call", { name: "get_account", arguments: {} }),
      request(3, "tools/call", { name: "é", arguments: {} }),
      request(4, "resources/read", { uri: "headwater://docs/filters" }),
    ]);
    expect(discovered.result.supportedVersions).to.deep.equal([MODERN]);
    expect(account.result.structuredContent.data).to.have.property("username");
    expect(unknown.error.code).to.equal(-32602);
    expect(read.result.contents[0].text).to.match(/^# /);
  });

  it("asks for the tools that change things with --write only", async () => {
    const list = [{ jsonrpc: "2.0", id: 1, method: "tools/list" }];
    const names = async (options: string[]) => {
      const [{ result }] = await exchange(list, {}, options);
      return result.tools.map(({ name }: { name: string }) => name);
    };
    expect(await names(["--write"])).to.include("delete_webhook");
    expect(await names([])).not.to.include("delete_webhook");
  });

  it("passes on what the server says of a line that is no message", async () => {
    const [error] = await exchange(["not JSON"]);
    expect(error).to.deep.include({ jsonrpc: "2.0", id: null });
    expect(error.error.code).to.equal(-32700);
  });

  it("says why there is no response, and never the key", async () => {
    const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
    const [revoked] = await exchange([ping], { HEADWATER_API_KEY: `${api.apiKey.slice(0, -4)}0000` });
    expect(revoked).to.deep.include({ id: 1 });
    expect(revoked.error.message).to.match(/returned 401: the API key/);
    const [away] = await exchange([ping], { HEADWATER_URL: "http://127.0.0.1:1" });
    expect(away.error.message).to.match(/^no response from http:\/\/127\.0\.0\.1:1: /);
    expect(JSON.stringify([revoked, away])).not.to.contain(api.apiKey.slice(0, -4));
  });

  it("says what it got where a website or a proxy responds in place of the server", async () => {
    const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
    const page = { status: 200, headers: { "content-type": "text/html" }, body: "<p>Welcome" };
    const json = { "content-type": "application/json" };
    const receiver = await startReceiver(page, { status: 502, headers: json, body: '{"message": "later"}' });
    try {
      const [website] = await exchange([ping], { HEADWATER_URL: receiver.url });
      expect(website?.error.message).to.match(/^http:\S+ returned 200, and no message$/);
      const [proxy] = await exchange([ping], { HEADWATER_URL: receiver.url });
      expect(proxy?.error?.message).to.match(/^http:\S+ returned 502$/);
    } finally {
      await receiver.close();
    }
  });
});
