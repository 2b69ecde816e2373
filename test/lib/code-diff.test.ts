import { expect } from "chai";
import { type Code, diffCode } from "../../src/lib/code-diff.ts";

const one = (code: string): Code => ({ code, files: {}, entry: null });
const several = (files: Record<string, string>, entry = "main.mjs"): Code => ({
  code: files[entry] ?? "",
  files,
  entry,
});

describe("diffCode", () => {
  it("returns the lines that differ, with three around them", () => {
    const before = one("a\nb\nc\nd\ne\nf\ng\nh\n");
    const after = one("a\nb\nc\nd\nE\nf\ng\nh\n");
    const [file, ...others] = diffCode(before, after);
    expect(others).to.deep.equal([]);
    expect(file?.hunks?.[0]).to.deep.include({ oldStart: 2, newStart: 2 });
    expect(file?.hunks?.[0]?.lines).to.deep.equal([" b", " c", " d", "-e", "+E", " f", " g", " h"]);
  });

  it("returns nothing for equal code", () => {
    expect(diffCode(one("a\n"), one("a\n"))).to.deep.equal([]);
    expect(diffCode(several({ "main.mjs": "a" }), several({ "main.mjs": "a" }))).to.deep.equal([]);
  });

  it("goes file by file: added, removed and changed ones", () => {
    const before = several({ "main.mjs": "a\n", "old.mjs": "x\n", "same.mjs": "s\n" });
    const after = several({ "main.mjs": "b\n", "new.mjs": "y\n", "same.mjs": "s\n" });
    const found = diffCode(before, after).map(({ path, hunks }) => [path, hunks?.[0]?.lines]);
    expect(found).to.deep.equal([
      ["main.mjs", ["-a", "+b"]],
      ["new.mjs", ["+y"]],
      ["old.mjs", ["-x"]],
    ]);
  });

  it("compares one text with the main file of several, and with what is left of them", () => {
    const files = several({ "app/main.mjs": "b\n", "lib.mjs": "l\n" }, "app/main.mjs");
    expect(diffCode(one("a\n"), files).map(({ path }) => path)).to.deep.equal(["app/main.mjs", "lib.mjs"]);
    // A release that kept no other files.
    const part: Code = { code: "a\n", files: null, entry: null };
    expect(diffCode(part, files)[0]?.hunks?.[0]?.lines).to.deep.equal(["-a", "+b"]);
  });

  it("ends on long files without a common line", () => {
    const long = (word: string) => one(Array.from({ length: 20_000 }, (_, n) => `${word}${n}\n`).join(""));
    const [file] = diffCode(long("a"), long("b"));
    expect(file?.hunks).to.equal(null);
  });
});
