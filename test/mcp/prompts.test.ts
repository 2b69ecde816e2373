import { expect } from "chai";
import { DOCS_TOOLS } from "../../src/mcp/docs-tools.ts";
import { SHOWN_PROMPTS } from "../../src/mcp/prompts.ts";
import { READ_TOOLS } from "../../src/mcp/tool-table.ts";
import { read } from "../docs/repository.ts";
import { type System, startSystem } from "../support/system.ts";
import { exchange, legacy, modern } from "./mcp.ts";

const FILLED: Record<string, Record<string, string>> = {
  why_not_arrived: { source: "orders", listener: "wh_1", event: 'order "17"' },
  debug_delivery: { delivery: "dlv_1" },
  what_is_wrong: {},
  write_component: { what: "new rows\nof a sheet" },
};

describe("mcp/prompts", () => {
  let system: System;
  let api: Awaited<ReturnType<System["user"]>>;
  before(async () => {
    system = await startSystem({ RATE_LIMITS: "api:0" }, { workers: false });
    api = await system.user();
  });
  after(() => system.stop());

  const get = async (params: Record<string, unknown>) =>
    (await exchange(api, modern("prompts/get", params))).json;

  it("are listed for both kinds of clients", async () => {
    const { result } = (await exchange(api, modern("prompts/list"))).json;
    expect(result).to.deep.include({ resultType: "complete", cacheScope: "private" });
    expect(result.prompts).to.deep.equal(SHOWN_PROMPTS);
    expect(result.prompts.map(({ name }: { name: string }) => name)).to.have.members(Object.keys(FILLED));
    expect((await exchange(api, legacy("prompts/list"))).json.result).to.deep.equal({
      prompts: SHOWN_PROMPTS,
    });
  });

  it("are filled in with what is given, in quotation marks", async () => {
    for (const [name, given] of Object.entries(FILLED)) {
      const { messages } = (await get({ name, arguments: given })).result;
      expect(messages).to.have.length(1);
      const [{ role, content }] = messages;
      expect([role, content.type]).to.deep.equal(["user", "text"]);
      for (const value of Object.values(given)) expect(content.text).to.contain(JSON.stringify(value));
      expect(content.text).not.to.contain("undefined");
    }
    const alone = await get({ name: "why_not_arrived", arguments: { source: "orders", event: "" } });
    expect(alone.result.messages[0].content.text).to.contain("the newest").and.not.contain('""');
  });

  it("name tools and pages that are there", async () => {
    const names = new Set([...READ_TOOLS, ...DOCS_TOOLS].map(({ name }) => name));
    for (const [name, given] of Object.entries(FILLED)) {
      const { text } = (await get({ name, arguments: given })).result.messages[0].content;
      const tools = text.match(/\b(get|list|search|read|test|check)_[a-z_]+/g) ?? [];
      expect(tools.length, name).to.be.greaterThan(2);
      for (const tool of tools) expect([...names], name).to.include(tool);
      for (const [, page] of text.matchAll(/read_doc ([a-z-]+)/g))
        expect(read(`docs/${page}.md`)).to.match(/^# /);
    }
  });

  it("say what is wrong with what is given", async () => {
    for (const params of [
      { name: "nothing" },
      { name: "toString" },
      { name: "debug_delivery" },
      { name: "debug_delivery", arguments: {} },
      { name: "debug_delivery", arguments: { delivery: " " } },
      { name: "debug_delivery", arguments: { delivery: 5 } },
      { name: "debug_delivery", arguments: [] },
      { name: "debug_delivery", arguments: { delivery: "x".repeat(2001) } },
      { name: "debug_delivery", arguments: { delivery: "dlv_1", other: "x" } },
      {},
    ]) {
      expect((await get(params)).error?.code, JSON.stringify(params).slice(0, 100)).to.equal(-32602);
    }
  });
});
