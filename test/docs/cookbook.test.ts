import { expect } from "chai";
import { filesOf, read } from "./repository.ts";

const names = filesOf("docs/cookbook").map(file => file.replace(/^docs\/cookbook\/(.+)\.md$/, "$1"));
const recipes = names.filter(name => name !== "recipes");

describe("the cookbook", () => {
  it("has twelve recipes, which its first page lists", () => {
    const listed = read("docs/cookbook/recipes.md").matchAll(/\]\(([\w-]+)\.md\)/g);
    expect([...listed].map(([, name]) => name)).to.have.members(recipes);
    expect(recipes).to.have.length(12);
  });

  it("has a test for each recipe", () => {
    const tests = filesOf("test/docs").filter(file => /\/cookbook-\w+\.test\.ts$/.test(file));
    const opened = tests.flatMap(file => [...read(file).matchAll(/kitchen\.open\("cookbook\/([\w-]+)"/g)]);
    expect(opened.map(([, name]) => name)).to.have.members(recipes);
  });
});
