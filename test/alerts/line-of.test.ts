import { expect } from "chai";
import { lineOf } from "../../src/alerts/raise.ts";

describe("the line of a text", () => {
  it("has no line break, no control character and no mark that turns its direction", () => {
    expect(lineOf("a\r\nBcc: b\u2028c\u0000d\u202ee", 100)).to.equal("a Bcc: b c d e");
  });

  it("has so many characters at most, each whole", () => {
    expect(lineOf("a".repeat(10), 10)).to.equal("a".repeat(10));
    expect(lineOf("😀".repeat(11), 10)).to.equal(`${"😀".repeat(9)}…`);
  });
});
