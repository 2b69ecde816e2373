import { expect } from "chai";
import { shortened } from "../../../src/cli/output/plain.ts";
import { fields, table } from "../../../src/cli/output/table.ts";

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

  it("shows nothing that would move the cursor or turn text around", () => {
    expect(table(["name"], [["a\u001b[2Jb\nc\u202ed\u0007"]])).to.equal("NAME\nab c d");
    expect(shortened("\u001b]0;title\u0007abcdef", 4)).to.equal("abc…");
  });
});
