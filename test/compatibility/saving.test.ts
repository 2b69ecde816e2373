import { expect } from "chai";
import type { Sandboxes } from "../../src/sandbox/sandboxes.ts";
import { mapOf } from "../components/import-bundle.ts";
import { rejection } from "../components/rejection.ts";
import { openTestSandboxes } from "../examples/open-example.ts";
import { bundleFixture, fixturePath, openFixture } from "./fixture.ts";

/** Components that can't be saved. The message names the location in the author's own file, and the reason. */
const REJECTED: [what: string, file: string, message: RegExp][] = [
  ["a syntax error", "broken/syntax.mjs", /: line 4, column 3: /],
  ["a syntax error in TypeScript", "broken/syntax.ts", /: line 1, column 23: /],
  ["a syntax error in an imported file", "broken/imports-broken.mjs", /: syntax\.mjs: line 4, column 3: /],
  ["a missing default export", "broken/no-default.mjs", /: no-default\.mjs has no default export/],
  [
    "a relative file that does not exist",
    "broken/relative.mjs",
    /"\.\.\/nowhere\.app\.mjs": nothing was found .*\(relative\.mjs, line 2, column 17\)$/,
  ],
  [
    "a name that the imported file does not export",
    "broken/no-such-export.mjs",
    /: no-such-export\.mjs: line 3, column 3: .*"third"/,
  ],
  [
    "an absolute path",
    "broken/absolute.js",
    /"\/etc\/passwd": only relative files.* \(absolute\.js, line 2, column 19\)$/,
  ],
  [
    "a package that does not exist",
    "broken/package.mjs",
    /"no-such-package-of-ours@1\.2\.3" \(package\.mjs, line 1, column 15\) can't be resolved: the package does not exist$/,
  ],
];

describe("compatibility: saving", () => {
  let sandboxes: Sandboxes;

  before(async () => {
    sandboxes = await openTestSandboxes();
  });
  after(() => sandboxes?.close());

  for (const [what, file, message] of REJECTED) {
    it(`rejects ${what}, with line and column (${file})`, async () => {
      const error = await rejection(bundleFixture(file));
      expect(error.code).to.equal("invalid");
      expect(error.fields.map(field => field.path)).to.deep.equal([fixturePath(file)]);
      expect(error.message).to.match(message);
    });
  }

  it("rejects code that throws when it is evaluated, with its message (broken/throws.mjs)", async () => {
    const error = await rejection(openFixture(sandboxes, "broken/throws.mjs"));
    expect(error.message).to.contain("at load: TIDE_KEY is not set");
  });

  it("creates the same bundle from the same code and versions", async () => {
    for (const file of ["tidewatch/sources/new-reading/new-reading.mjs", "shape/npm-versions.mjs"]) {
      const [first, again] = [await bundleFixture(file), await bundleFixture(file)];
      expect(again).to.deep.equal(first);
    }
  });

  it("pins the versions of packages, by the text of the import", async () => {
    const { packages } = await bundleFixture("shape/npm-versions.mjs");
    expect(packages).to.deep.include({ "ms@2.1.2": "2.1.2", "ms@^2.1": "2.1.3" });
    expect(packages["lodash.get"]).to.match(/^4\./);
  });

  it("includes the component's own files in the source map, and no packages", async () => {
    const { code } = await bundleFixture("tidewatch/sources/high-tide/high-tide.mjs");
    expect(mapOf(code).sources).to.have.members([
      "own:high-tide.mjs",
      "own:../common/base.mjs",
      "own:../../tidewatch.app.mjs",
      "own:../../common/constants.mjs",
    ]);
  });
});
