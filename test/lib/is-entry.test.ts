import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { programOf, root } from "../support/built.ts";

describe("a process that is started by a path with a link", () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "headwater-current-"));
    symlinkSync(root, join(folder, "current"));
  });
  after(() => rmSync(folder, { recursive: true }));

  for (const program of ["src/server.ts", "workers/all.ts"]) {
    it(`runs all the same: ${program}`, () => {
      const args = programOf(program, { folder: join(folder, "current") });
      const env = { PATH: process.env.PATH, PORT: "none", LOG_LEVEL: "error" };
      const { status, stdout, stderr } = spawnSync(process.execPath, args, { env, encoding: "utf8" });
      expect(stdout + stderr).to.include("configuration: MONGODB_URL is not set");
      expect(status).to.equal(78);
    });
  }
});
