import { expect } from "chai";
import { ALERT_LIMITS } from "../../src/limits/alert-limits.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { DELIVERY_LIMITS } from "../../src/limits/delivery-limits.ts";
import { limitsDocument } from "../../src/limits/document.ts";
import { FUNCTION_LIMITS } from "../../src/limits/function-limits.ts";
import { ITEM_LIMITS } from "../../src/limits/item-limits.ts";
import { PLAN_LIMITS } from "../../src/limits/plan-limits.ts";
import { REQUEST_LIMITS } from "../../src/limits/request-limits.ts";
import { RUN_LIMITS } from "../../src/limits/run-limits.ts";
import { settingNames } from "../../src/setting-schema.ts";
import { read } from "../docs/repository.ts";

const committed = read("docs/limits.md");

const GROUPS = [
  PLAN_LIMITS,
  ITEM_LIMITS,
  REQUEST_LIMITS,
  RUN_LIMITS,
  DELIVERY_LIMITS,
  ALERT_LIMITS,
  FUNCTION_LIMITS,
];

describe("the catalogue of limits", () => {
  it("has no name twice: one of the two would be lost", () => {
    const names = GROUPS.flatMap(group => Object.keys(group));
    expect(names.filter((name, i) => names.indexOf(name) !== i)).to.deep.equal([]);
    for (const group of GROUPS) expect(LIMITS).to.include(group);
  });
});

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
