import { readFileSync } from "node:fs";
import { expect } from "chai";
import { CATALOGUE } from "../../src/metrics/catalogue.ts";
import { metricsDocument } from "../../src/metrics/document.ts";

const committed = readFileSync(new URL("../../docs/metrics.md", import.meta.url), "utf8");

describe("docs/metrics.md", () => {
  it("is committed as the catalogue generates it", () => {
    expect(committed === metricsDocument(), "docs/metrics.md is stale: run npm run docs:metrics").to.equal(
      true,
    );
  });

  for (const name of Object.keys(CATALOGUE)) {
    it(`describes headwater_${name}`, () => {
      expect(committed).to.include(`| \`headwater_${name}\` |`);
    });
  }
});
