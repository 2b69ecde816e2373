import { expect } from "chai";
import { parse } from "yaml";
import { filesOf, read } from "./repository.ts";

type Entry = string | Record<string, string>;
const sections = parse(read("docs/site.yaml")) as Record<string, Entry[]>;
const names = Object.values(sections)
  .flat()
  .map(entry => (typeof entry === "string" ? entry : (Object.keys(entry)[0] ?? "")));

describe("docs/site.yaml", () => {
  it("has each document once, and the decisions as one list", () => {
    const documents = filesOf("docs").filter(
      file => file.endsWith(".md") && !file.startsWith("docs/decisions/"),
    );
    expect(names.filter(name => name.startsWith("docs/")).sort()).to.deep.equal(documents);
    expect(names).to.include.members([
      "api",
      "errors",
      "decisions",
      "README.md",
      "CHANGELOG.md",
      "deploy/README.md",
    ]);
    expect(new Set(names).size).to.equal(names.length);
  });

  it("has its sections in the order in which a reader needs them", () => {
    const order = [
      "Start",
      "Concepts",
      "Guides",
      "Coming from",
      "Cookbook",
      "Reference",
      "Operate",
      "Inside",
    ];
    expect(Object.keys(sections)).to.deep.equal(order.filter(name => sections[name] !== undefined));
  });
});
