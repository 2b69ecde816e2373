// runs-long: npm test has test/components/npm-packages.test.ts, with a package that does not exist
import { expect } from "chai";
import { bundleComponent } from "../../src/components/bundle.ts";
import { fromCode } from "../../src/components/load-modules.ts";
import { type NpmRegistry, startNpmRegistry } from "../support/npm-registry.ts";
import { PACKAGES } from "./published-packages.ts";
import { rejection } from "./rejection.ts";

describe("npm packages that a component can't have", () => {
  let registry: NpmRegistry;
  before(async () => {
    registry = await startNpmRegistry(PACKAGES);
  });
  after(() => registry.close());

  const bundle = (code: string) =>
    bundleComponent(fromCode(code), { cacheDir: registry.cacheDir, npmEnvironment: registry.environment });

  const rejected: [string, string, RegExp][] = [
    [
      "an unknown version",
      `import d from "dual"; import a from "@acme/versions@9.9.9";`,
      /"@acme\/versions@9\.9\.9".*the version does not exist/,
    ],
    ["an unknown tag", `import a from "dual@nightly";`, /"dual@nightly".*the version does not exist/],
    ["a path the package does not export", `import a from "dual/esm.js";`, /"dual\/esm\.js".*no such file/],
    ["a package that climbs out of the folder", `import a from "climber-far";`, /outside the packages/],
    ["a package whose main file climbs out", `import a from "climber-main";`, /"climber-main"/],
    [
      "a package that imports an absolute path",
      `import a from "absolute";`,
      /absolute\/index\.js imports "\/etc\/hostname"/,
    ],
    ["a package that is a symlink", `import a from "linker";`, /"linker"/],
    ["a package that depends on a folder", `import a from "by-file";`, /outside the registry/],
    ["a package that depends on a git address", `import a from "by-git";`, /outside the registry/],
    ["a package that depends on a URL", `import a from "by-address";`, /outside the registry/],
  ];
  for (const [what, code, message] of rejected) {
    it(`are rejected, and the import is named: ${what}`, async () => {
      const error = await rejection(bundle(`${code} export default { a };`));
      expect(error.message).to.match(message);
      expect([error.code, error.fields[0]?.path]).to.deep.equal(["invalid", "component_code"]);
    });
  }
});
