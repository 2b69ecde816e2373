import { expect } from "chai";
import { read } from "./repository.ts";

/** A row of the table: a moment, what is asked, and a test's file with its name, or the fixed part of it. */
const ROW = /^\| (?<moment>[^|]+) \| [^|]+ \| (?<file>test\/[\w./-]+\.test\.ts): "(?<name>[^|]+)" \|$/;

/** The rows of the table under the heading of guarantee 6, without its head. */
function momentsOfAccess(): string[] {
  const [, section = ""] = read("docs/design.md").split("### Guarantee 6\n");
  const [own = ""] = section.split("\n### ");
  return own
    .split("\n")
    .filter(line => line.startsWith("|"))
    .slice(2);
}

describe("each moment at which access is asked", () => {
  it("names a test that exists", () => {
    const rows = momentsOfAccess();
    expect(rows.length).to.be.greaterThan(10);
    for (const row of rows) {
      const { file = "", name = "" } = ROW.exec(row)?.groups ?? {};
      expect(file, `${row} names no test`).not.to.equal("");
      const isThere = read(file)
        .split("\n")
        .some(line => /\bit\(/.test(line) && line.includes(name));
      expect(isThere, `${file} has no test "${name}"`).to.equal(true);
    }
  });
});
