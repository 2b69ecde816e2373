import { expect } from "chai";
import { settingNames } from "../../src/config.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { limitsDocument } from "../../src/limits/document.ts";
import { read } from "../docs/repository.ts";

const committed = read("docs/limits.md");

describe("docs/limits.md", () => {
  it("is committed as the catalogue generates it", () => {
    expect(committed === limitsDocument(), "docs/limits.md is stale: run npm run docs:limits").to.equal(true);
  });

  for (const [name, { what, setting }] of Object.entries(LIMITS)) {
    it(`describes ${name}`, () => {
      expect(committed).to.include(`| ${what} |`);
      if (setting !== undefined) expect(settingNames).to.include(setting);
    });
  }
});
