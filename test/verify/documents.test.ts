import { expect } from "chai";
import { PRESETS } from "../../src/verify/presets.ts";
import { read } from "../docs/repository.ts";

describe("docs/verify.md", () => {
  it("lists every preset, with what its secret is and how it is known", () => {
    const [, section = ""] = read("docs/verify.md").split("\n## Presets\n");
    const rows = [...section.matchAll(/^\| `(\S+)` \| .*$/gm)].map(([row]) => row);
    const wanted = Object.entries(PRESETS).map(([name, { title, secret, note, known }]) => {
      return `| \`${name}\` | ${title} | ${secret}${note === undefined ? "" : `. ${note}`} | ${known} |`;
    });
    expect(rows.filter(row => / (?:run|read) \|$/.test(row))).to.deep.equal(wanted);
  });
});
