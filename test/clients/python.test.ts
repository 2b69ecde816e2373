import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { root } from "../support/built.ts";
import { skipBecause } from "../support/skip.ts";
import { type System, startSystem } from "../support/system.ts";

const run = promisify(execFile);
/** Without the formatter, which is a program of its own. */
const CONFIG = '{ "post_hooks": [] }';

describe("a Python client that is generated from openapi.json", () => {
  let system: System;
  let folder: string;
  const bin = process.env.PYTHON_PACKAGES ?? "";

  before(async function () {
    if (bin === "") {
      return skipBecause(this, "it needs packages that npm run test:python installs");
    }
    folder = await mkdtemp(join(tmpdir(), "headwater-python-"));
    system = await startSystem();
  });
  after(async () => {
    await system?.stop();
    if (folder) await rm(folder, { recursive: true, force: true });
  });

  it("is made without a warning, and leads from a source's code to a verified delivery", async () => {
    await writeFile(join(folder, "config.json"), CONFIG);
    const options = ["--config", join(folder, "config.json"), "--meta", "none", "--fail-on-warning"];
    const made = await run(join(bin, "openapi-python-client"), [
      "generate",
      ...options,
      ...["--path", join(root, "openapi.json"), "--output-path", join(folder, "headwater_client")],
    ]).catch(({ stdout, stderr }) => expect.fail(stdout + stderr));
    expect(made.stdout + made.stderr).not.to.match(/warning/i);

    const { apiKey } = await system.user({ plan: "paid" });
    const { stdout } = await run(join(bin, "python"), [join(root, "test/clients/python/main_job.py")], {
      env: {
        PATH: process.env.PATH,
        PYTHONPATH: folder,
        PYTHONDONTWRITEBYTECODE: "1",
        HEADWATER_URL: system.baseUrl,
        HEADWATER_API_KEY: apiKey,
      },
    });
    expect(JSON.parse(stdout)).to.deep.equal({
      payload: { hello: "wörld" },
      isOurs: true,
      attempts: 1,
      nextAttempt: null,
      missing: 404,
    });
  });
});
