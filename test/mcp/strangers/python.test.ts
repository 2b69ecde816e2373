import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { VERSIONS } from "../../../src/mcp/protocol.ts";
import { root } from "../../support/built.ts";
import { type System, startSystem } from "../../support/system.ts";
import { installedOrSkip } from "./installed.ts";

const run = promisify(execFile);
const CODE = `export default { name: "One", version: "0.0.1", props: { http: "$.interface.http" }, run() {} };`;

describe("mcp, for the Python SDK,", () => {
  let python: string;
  let system: System;
  before(async function () {
    python = installedOrSkip(this, "MCP_PYTHON");
    system = await startSystem({ RATE_LIMITS: "api:0" });
  });
  after(() => system?.stop());

  it("serves tools, resources and prompts, to a client that discovers and to one that initializes", async () => {
    const api = await system.user();
    await api.createSource({ component_code: CODE, name: "one" });
    const { stdout } = await run(python, [join(root, "test/mcp/strangers/python/tools.py")], {
      env: {
        PATH: process.env.PATH,
        PYTHONDONTWRITEBYTECODE: "1",
        MCP_URL: new URL("/mcp", api.baseUrl).href,
        HEADWATER_API_KEY: api.apiKey,
      },
    }).catch(({ stdout, stderr }) => expect.fail(stdout + stderr));
    const found = JSON.parse(stdout);
    for (const [mode, [version]] of [
      ["auto", VERSIONS.modern],
      ["legacy", VERSIONS.legacy],
    ] as const) {
      const { tools, ...others } = found[mode];
      expect(tools, mode).to.be.greaterThan(30);
      expect(others, mode).to.deep.equal({
        ...{ version, failed: [], sources: ["one"], absent: true, page: "# Agents", prompt: true },
      });
    }
  });
});
