import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernTransport,
} from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { expect } from "chai";
import { type System, startSystem } from "../support/system.ts";

const CODE = `export default { name: "One", version: "0.0.1", props: { http: "$.interface.http" }, run() {} };`;
const INFO = { name: "headwater-tests", version: "1" };

/** Clients that were written elsewhere, as they come from the registry. */
describe("mcp, for clients of others,", () => {
  let system: System;
  let api: Awaited<ReturnType<System["user"]>>;
  let url: URL;
  let requestInit: RequestInit;
  let versions = 0;
  before(async () => {
    system = await startSystem({ RATE_LIMITS: "api:0", MCP: "write" });
    api = await system.user();
    await api.createSource({ component_code: CODE, name: "one" });
    url = new URL("/mcp", api.baseUrl);
    requestInit = { headers: { authorization: `Bearer ${api.apiKey}` } };
  });
  after(() => system.stop());

  /** What all clients do alike; both check results against the schemas that they were given. */
  async function useTools(client: Pick<Client, "listTools" | "callTool"> | ModernClient) {
    const { tools } = await client.listTools();
    expect(tools.length).to.be.greaterThan(30);
    const listed = await client.callTool({ name: "list_sources", arguments: {} });
    const { data } = listed.structuredContent as { data: { id: string; name: string }[] };
    expect(data.map(({ name }) => name)).to.deep.equal(["one"]);
    for (const { name, inputSchema } of tools) {
      if ((inputSchema.required ?? []).length > 0 || name === "check_component") continue;
      expect((await client.callTool({ name, arguments: {} })).isError, name).not.to.equal(true);
    }
    const found = await client.callTool({ name: "get_source", arguments: { source: data[0]?.id } });
    expect((found.structuredContent as { data: { name: string } }).data.name).to.equal("one");
    const absent = await client.callTool({ name: "get_source", arguments: { source: "dc_none" } });
    expect(absent.isError).to.equal(true);
  }

  async function writeWith(client: Pick<Client, "listTools" | "callTool"> | ModernClient) {
    const { tools } = await client.listTools();
    expect(tools.find(({ name }) => name === "delete_source")?.annotations?.readOnlyHint).to.equal(false);
    const called = async (name: string, given: object) => {
      const { structuredContent, isError } = await client.callTool({ name, arguments: { ...given } });
      expect(isError, name).not.to.equal(true);
      return structuredContent as { data: { id: string; active: boolean }; done: boolean };
    };
    const component_code = CODE.replace("0.0.1", `0.0.${++versions}`);
    const { data: component } = await called("save_component", { component_code });
    const { data: source } = await called("deploy_source", { component_id: component.id, name: "two" });
    await called("publish_event", { source: source.id, event: { n: 1 } });
    expect((await called("pause_source", { source: source.id })).data.active).to.equal(false);
    expect((await called("delete_source", { source: source.id })).done).to.equal(true);
  }

  async function useResources(client: Pick<Client, "listResources" | "readResource"> | ModernClient) {
    const { resources } = await client.listResources();
    const [first] = resources;
    const { contents } = await client.readResource({ uri: first?.uri ?? "" });
    expect(contents[0]).to.have.property("text");
  }

  async function usePrompts(client: Pick<Client, "listPrompts" | "getPrompt"> | ModernClient) {
    const { prompts } = await client.listPrompts();
    expect(prompts.map(({ name }) => name)).to.include("why_not_arrived");
    const filled = await client.getPrompt({ name: "why_not_arrived", arguments: { source: "one" } });
    expect(filled.messages[0]?.content).to.have.property("text").that.contains('"one"');
  }

  it("serves @modelcontextprotocol/sdk", async () => {
    const client = new Client(INFO);
    const transport = new StreamableHTTPClientTransport(url, { requestInit });
    await client.connect(transport as Parameters<Client["connect"]>[0]);
    try {
      expect(client.getServerVersion()?.name).to.equal("headwater");
      expect(client.getInstructions()).to.contain("get_attention");
      await client.ping();
      await useTools(client);
      await useResources(client);
      await usePrompts(client);
    } finally {
      await client.close();
    }
  });

  it("writes for both, where the address asks for it", async () => {
    const writing = new URL("?write=1", url);
    const clients: [Client | ModernClient, () => Promise<void>][] = [];
    const older = new Client(INFO);
    const transport = new StreamableHTTPClientTransport(writing, { requestInit });
    clients.push([older, () => older.connect(transport as Parameters<Client["connect"]>[0])]);
    const newer = new ModernClient(INFO, { versionNegotiation: { mode: "auto" } });
    clients.push([newer, () => newer.connect(new ModernTransport(writing, { requestInit }))]);
    for (const [client, connect] of clients) {
      await connect();
      try {
        await writeWith(client);
      } finally {
        await client.close();
      }
    }
  });

  for (const mode of ["auto", undefined] as const) {
    it(`serves @modelcontextprotocol/client, ${mode ? "which discovers" : "which initializes by default"}`, async () => {
      const client = new ModernClient(INFO, mode && { versionNegotiation: { mode } });
      await client.connect(new ModernTransport(url, { requestInit }));
      try {
        expect(client.getNegotiatedProtocolVersion()).to.equal(mode ? "2026-07-28" : "2025-11-25");
        await useTools(client);
        await useResources(client);
        await usePrompts(client);
      } finally {
        await client.close();
      }
    });
  }

  it("turns away a client without a key", async () => {
    const client = new ModernClient(INFO, { versionNegotiation: { mode: "auto" } });
    const error = await client.connect(new ModernTransport(url)).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(error).to.be.instanceOf(Error);
  });
});
