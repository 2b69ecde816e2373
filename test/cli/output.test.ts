import { expect } from "chai";
import stringWidth from "string-width";
import { fields, shortened, table } from "../../src/cli/output.ts";

describe("a table of the command line", () => {
  it("aligns its columns by what a terminal shows", () => {
    expect(
      table(
        ["name", "n"],
        [
          ["水流", 1],
          ["a", true],
        ],
      ),
    ).to.equal("NAME  N\n水流  1\na     yes");
    expect(fields({ id: "x", "long name": null, left: undefined })).to.equal("id         x\nlong name  -");
  });

  it("fits into the width of a terminal: its widest columns are cut", () => {
    const rows = [["a", "x".repeat(60), "水".repeat(30), "end"]];
    const lines = table(["n", "long", "wide", "last"], rows, 50).split("\n");
    for (const line of lines) expect(stringWidth(line)).to.be.at.most(50);
    expect(lines[1]).to.match(/^a {2}x+… {2,}水+… {2,}end$/);
    expect(table(["n", "long"], [["a", "x".repeat(60)]])).to.include("x".repeat(60));
    expect(table(["name"], [["a".repeat(20)]], 4)).to.include("aaaaaaa…");
  });

  it("shows nothing that would move the cursor or turn text around", () => {
    expect(table(["name"], [["a\u001b[2Jb\nc\u202ed\u0007"]])).to.equal("NAME\nab c d");
    expect(shortened("\u001b]0;title\u0007abcdef", 4)).to.equal("abc…");
  });
});
