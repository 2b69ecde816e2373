import { expect } from "chai";
import { looksLikeComponent } from "../../../src/cli/catalogue/inputs.ts";
import { groupCauses, type Outcome } from "../../../src/cli/catalogue/report.ts";

const ok = { result: "ok" } as const;
const untried = { result: "not_tried" } as const;
const failed = (at: string, cause: string): Outcome => ({
  ...{ at, key: null, deployed: untried, ran: untried },
  described: { result: "failed", cause },
});

describe("the causes of a catalogue", () => {
  it("are one for messages that differ in names, addresses and numbers, with the most frequent first", () => {
    const groups = groupCauses([
      failed("x.mjs", "alone"),
      failed("a/a.mjs", 'a/a.mjs imports "./b" (a/a.mjs, line 1, column 8): nothing was found at http://h/b'),
      failed("c.mjs", 'c.mjs imports "../d" (c.mjs, line 12, column 3): nothing was found at http://h/d'),
      {
        at: "e.mjs",
        key: "e",
        described: ok,
        deployed: { result: "needs_props", cause: "city" },
        ran: untried,
      },
      { at: "f.mjs", key: "f", described: ok, deployed: ok, ran: ok },
    ]);
    expect(groups).to.deep.equal([
      {
        ...{ step: "described", result: "failed", components: ["a/a.mjs", "c.mjs"] },
        cause: '… imports "…" (…, line N, column N): nothing was found at …',
      },
      { step: "described", result: "failed", cause: "alone", components: ["x.mjs"] },
      { step: "deployed", result: "needs_props", cause: "city", components: ["e.mjs"] },
    ]);
  });
});

describe("a file of a catalogue", () => {
  it("is a component if it has a default export, a name and a version", () => {
    for (const text of [
      'export default { name: "A", version: "1" }',
      'module.exports = { "name": "A", "version": "1" }',
      'const name = "A"; const version = "1"; export default { name, version, key: "k" };',
      'import { defineSource } from "x"; export default defineSource({ ...common, name: "A", version: "1" });',
    ]) {
      expect(looksLikeComponent(text), text).to.equal(true);
    }
    for (const text of [
      'export default { type: "app", app: "shop", propDefinitions: {} }',
      'export const name = "A", version = "1";',
      "",
    ]) {
      expect(looksLikeComponent(text), text).to.equal(false);
    }
  });
});
