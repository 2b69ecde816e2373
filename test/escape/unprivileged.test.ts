// runs-long: npm test has test/sandbox/confinement.test.ts

import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { skipBecause } from "../support/skip.ts";

const NOBODY = 65_534;
const root = fileURLToPath(new URL("../..", import.meta.url));
/** What depends on user ids; all attacks with `ESCAPE_FULL=1`. */
const NAMES = process.env.ESCAPE_FULL
  ? ["files", "network", "process", "protocol", "resources", "storage"]
  : ["files", "storage"];
const FILES = NAMES.map(name => `test/escape/${name}.test.ts`);

describe("a worker that is not root", () => {
  it("has sandboxes without a way out to files and storage, each other's included", async function () {
    // These tests then run as such a user anyway.
    if (process.getuid?.() !== 0) skipBecause(this, "only root can become another user");
    const mocha = fileURLToPath(new URL("node_modules/mocha/bin/mocha.js", `file://${root}/`));
    const child = spawn(process.execPath, [mocha, "--reporter", "dot", ...FILES], {
      cwd: root,
      uid: NOBODY,
      gid: NOBODY,
      env: { ...process.env, HOME: "/nonexistent", TSX_DISABLE_CACHE: "1" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    child.stdout.on("data", chunk => {
      output += chunk;
    });
    child.stderr.on("data", chunk => {
      output += chunk;
    });
    const code = await new Promise(resolve => child.once("close", resolve));
    expect(code, output.slice(-5000)).to.equal(0);
    expect(output).to.match(/passing/);
  });
});
