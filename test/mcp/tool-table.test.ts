import { expect } from "chai";
import { DOCS_TOOLS } from "../../src/mcp/docs-tools.ts";
import { READ_TOOLS } from "../../src/mcp/tool-table.ts";
import { WRITE_TOOLS } from "../../src/mcp/write-table.ts";
import { read } from "../docs/repository.ts";

describe("mcp/tool-table", () => {
  it("is the table of docs/agents.md, and so are the tools that write", () => {
    for (const [mark, tools] of [
      ["tools", [...READ_TOOLS, ...DOCS_TOOLS]],
      ["write-tools", WRITE_TOOLS],
    ] as const) {
      const rows = tools.map(({ name, description }) => `| \`${name}\` | ${description} |`);
      const table = ["| tool | for |", "|---|---|", ...rows].join("\n");
      const [, shown] =
        new RegExp(`<!-- ${mark} -->(.*)<!-- /${mark} -->`, "s").exec(read("docs/agents.md")) ?? [];
      expect(shown?.trim(), "what it should be").to.equal(table);
    }
  });

  it("has each tool once", () => {
    const names = [...READ_TOOLS, ...DOCS_TOOLS, ...WRITE_TOOLS].map(({ name }) => name);
    expect(new Set(names).size).to.equal(names.length);
  });
});
