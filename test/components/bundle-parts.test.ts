import { expect } from "chai";
import { cutBundle } from "../../src/components/bundle-parts.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";

const HEAD = `import "node:fs";{const files=1}\nvar helpers;\n`;
const file = (name: string, length: number) => `// ${name}\n${`${name};`.repeat(length / name.length)}\n`;
const library = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, n) => file(`npm:node_modules/lib/${from + n}.js`, 20_000)).join("");
const cut = (text: string) => cutBundle(Buffer.from(text)).map(part => part.toString());

describe("cutting bundles into parts", () => {
  it("leaves a small one whole", () => {
    const text = HEAD + file("npm:node_modules/lib/0.js", 1000) + file("own:a.mjs", 1000);
    expect(cut(text)).to.deep.equal([text]);
  });

  it("keeps own code apart from packages, which have the same parts beside other code", () => {
    const one = cut(HEAD + library(0, 100) + file("own:a.mjs", 3000) + library(100, 120));
    const two = cut(`${HEAD}var more;\n${library(0, 100)}${file("own:b.mjs", 70_000)}${library(100, 120)}`);
    expect(one.join("")).to.include("own:a.mjs;");
    const isOwn = (part: string) => part.includes("own:");
    expect(one.filter(isOwn)).to.deep.equal([file("own:a.mjs", 3000)]);
    expect(one.filter(part => !two.includes(part) && !isOwn(part))).to.deep.equal(["var helpers;\n"]);
    expect(one.length).to.be.above(10);
  });

  it("finds the common parts again after a package that only one has", () => {
    const one = cut(HEAD + library(0, 100));
    const two = cut(HEAD + file("npm:node_modules/another/index.js", 100_000) + library(0, 100));
    const bytes = (parts: string[]) => parts.join("").length;
    expect(bytes(one.filter(part => !two.includes(part)))).to.be.below(bytes(one) / 3);
  });

  it("changes nothing, and bounds each part", () => {
    const text = HEAD + file("npm:node_modules/lib/large.js", 5_000_000) + file("own:ä.mjs", 100);
    expect(cut(text).join("")).to.equal(text);
    const sizes = cutBundle(Buffer.from(text)).map(({ length }) => length);
    expect(Math.max(...sizes)).to.equal(LIMITS.bundleChunkBytes.value);
  });
});
