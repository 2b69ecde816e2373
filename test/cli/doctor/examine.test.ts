import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { expect } from "chai";
import { checkNpm, judgeNpm } from "../../../src/cli/doctor/examine.ts";

const ADVICE = "install npm 11 or newer: npm install --global npm@11";

describe("what the doctor says of npm", () => {
  it("is a problem where its version is too old to be kept to the registry", () => {
    expect(judgeNpm("10.9.4")).to.deep.equal({
      check: "npm",
      severity: "problem",
      message: "version 10.9.4 lets a package of a component make npm fetch any address",
      advice: ADVICE,
    });
    for (const version of ["11.0.0", "12.3.1"]) {
      expect(judgeNpm(version)).to.deep.equal({
        check: "npm",
        severity: "ok",
        message: `version ${version}`,
      });
    }
  });

  it("is what the npm on the PATH says, and a problem where there is none", async () => {
    const folder = mkdtempSync(join(tmpdir(), "headwater-npm-"));
    try {
      const none = await checkNpm({ PATH: folder });
      expect(none).to.include({ check: "npm", severity: "problem", advice: ADVICE });
      expect(none.message).to.match(/^can't be run: .*ENOENT/);
      writeFileSync(join(folder, "npm"), "#!/bin/sh\necho 9.1.0\n");
      chmodSync(join(folder, "npm"), 0o755);
      const old = await checkNpm({ PATH: [folder, process.env.PATH].join(delimiter) });
      expect(old).to.include({ severity: "problem", advice: ADVICE });
      expect(old.message).to.match(/^version 9\.1\.0 /);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
