import { spawnSync } from "node:child_process";
import { expect } from "chai";
import { read } from "./repository.ts";

/** The README and the page that it leads to. */
const pages = ["README.md", "docs/start.md"].map(read);
/** The commands of their shell blocks. */
const blocks = pages.flatMap(page => [...page.matchAll(/^```sh\n(.*?)^```/gms)].map(([, text = ""]) => text));

/** Returns a line without its comment. */
const command = (line: string) => line.replace(/(^|\s)#\s.*$/, "");
const commands = blocks.flatMap(block => block.split("\n").map(command));

describe("the README", () => {
  it("is read in a few minutes", () => {
    expect(read("README.md").split("\n").length).to.be.at.most(130);
  });
});

describe("the commands of the README and of the first ten minutes", () => {
  it("can be pasted: each block is valid shell, and has no placeholder", () => {
    expect(blocks.length).to.be.above(2);
    for (const block of blocks) {
      const { status, stderr } = spawnSync("bash", ["-n"], { input: block, encoding: "utf8" });
      expect([status, stderr], block).to.deep.equal([0, ""]);
    }
    const placeholders = commands.filter(line => /…|\.\.\.|<[a-z -]+>|\b(OWNER|REPO|YOUR_?\w*)\b/.test(line));
    expect(placeholders).to.deep.equal([]);
  });

  it("wait for a condition, never for a time", () => {
    const sleeps = commands.filter(
      line => /\bsleep\b/.test(line) && !/^until .*; do sleep [\d.]+; done$/.test(line),
    );
    expect(sleeps).to.deep.equal([]);
  });

  it("leave no file behind: what they write is a temporary file that they delete", () => {
    // Not the `=>` of the receiver's code.
    const written = commands.flatMap(line =>
      [...line.matchAll(/(?<![=>])>\s*(\S+)/g)].map(([, file]) => file),
    );
    expect(written).not.to.deep.equal([]);
    for (const file of written) {
      expect(file).to.match(/^"\$\w+"$/);
      expect(commands.map(line => line.trim())).to.include(`rm ${file}`);
    }
  });
});
