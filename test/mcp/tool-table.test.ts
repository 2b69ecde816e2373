import { expect } from "chai";
import { DOCS_TOOLS } from "../../src/mcp/docs-tools.ts";
import { READ_TOOLS } from "../../src/mcp/tool-table.ts";
import { read } from "../docs/repository.ts";

describe("mcp/tool-table", () => {
  it("is the table of docs/agents.md", () => {
    const tools = [...READ_TOOLS, ...DOCS_TOOLS];
    const rows = tools.map(({ name, description }) => `| \`${name}\` | ${description} |`);
    const table = ["", "| tool | for |", "|---|---|", ...rows, ""].join("\n");
    const [, shown] = /<!-- tools -->(.*)<!-- \/tools -->/s.exec(read("docs/agents.md")) ?? [];
    expect(shown?.trim(), "what it should be").to.equal(table.trim());
  });

  it("has each tool once", () => {
    const names = [...READ_TOOLS, ...DOCS_TOOLS].map(({ name }) => name);
    expect(new Set(names).size).to.equal(names.length);
  });
});
