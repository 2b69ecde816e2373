import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { EXIT_CONFIG } from "../../src/lib/errors.ts";
import { root } from "../docs/repository.ts";
import { programOrSkip } from "../support/skip.ts";
import { deployPath } from "./files.ts";

/** The highest exposure, of 10, by `systemd-analyze security`; what is left is explained in deploy/README.md. */
const MAX_EXPOSURE = 2.5;

describe("the systemd units", () => {
  let folder: string;

  let analyze: string;

  before(async function () {
    // A container often lacks it.
    analyze = await programOrSkip(this, "systemd", { names: ["systemd-analyze"] });
    folder = mkdtempSync(join(tmpdir(), "headwater-units-"));
    for (const name of ["headwater@.service", "headwater-migrate.service", "headwater.target"]) {
      // The paths of this checkout, because the program must exist.
      const text = readFileSync(deployPath("systemd", name), "utf8").replaceAll(
        "/opt/headwater",
        root.replace(/\/$/, ""),
      );
      writeFileSync(join(folder, name), text);
    }
    cpSync(join(folder, "headwater@.service"), join(folder, "headwater@web.service"));
  });
  after(() => {
    if (folder) rmSync(folder, { recursive: true, force: true });
  });

  for (const unit of ["headwater@web.service", "headwater-migrate.service", "headwater.target"]) {
    it(`are understood by systemd: ${unit}`, () => {
      const { status, stderr } = spawnSync(analyze, ["verify", "--man=no", join(folder, unit)], {
        encoding: "utf8",
      });
      const ours = stderr.split("\n").filter(line => line.includes("headwater"));
      expect(ours).to.deep.equal([]);
      expect(status).to.equal(0);
    });
  }

  for (const unit of ["headwater@web.service", "headwater-migrate.service"]) {
    it(`leave a process little of the system: ${unit}`, () => {
      const output = execFileSync(analyze, ["security", "--offline=true", join(folder, unit)], {
        encoding: "utf8",
      });
      const exposure = /Overall exposure level for \S+: ([\d.]+)/.exec(output)?.[1];
      expect(Number(exposure)).to.be.at.most(MAX_EXPOSURE);
    });
  }

  it("allow what sandboxes are made of, and do not start again what can't start", () => {
    const unit = readFileSync(deployPath("systemd", "headwater@.service"), "utf8");
    expect(unit).to.match(/^RestrictNamespaces=user net$/m);
    expect(unit).to.match(/^SystemCallFilter=@system-service unshare( landlock_\w+){3}$/m);
    expect(unit).to.match(new RegExp(`^RestartPreventExitStatus=.*\\b${EXIT_CONFIG}\\b`, "m"));
    expect(unit).to.not.match(/^(PrivateUsers|MemoryDenyWriteExecute)=/m);
  });

  it("migrate before each start of a process, which a migration that fails does not stop", () => {
    const unit = readFileSync(deployPath("systemd", "headwater@.service"), "utf8");
    expect(unit).to.match(/^Wants=.*\bheadwater-migrate\.service\b/m);
    expect(unit).to.match(/^After=.*\bheadwater-migrate\.service\b/m);
    expect(unit).to.not.match(/^(Requires|BindsTo)=/m);
    const migration = readFileSync(deployPath("systemd", "headwater-migrate.service"), "utf8");
    expect(migration, "once it has run, it must run again").to.not.match(/^RemainAfterExit=/m);
    expect(migration).to.match(/^Restart=on-failure$/m);
  });
});
