import { hash } from "node:crypto";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { installDependencies } from "./dependencies.mjs";
import { installNpmPackages } from "./npm-packages.mjs";
import { installPythonPackages } from "./python-packages.mjs";
import { runScript, UserError } from "./user-error.mjs";
import { installNode } from "./with-node.mjs";
import { runWithPath } from "./with-path.mjs";

const HELP = `Usage: npm run test:mcp [-- OPTIONS OF script/test]

Tests the MCP server with programs of others, as they come from their registries: the AI SDK's MCP client through the whole cycle
of events, the Python SDK, and the protocol's conformance suite. They are installed into .cache/ (once). The first and the last need
Node.js 22 or newer, so an older one runs the tests with 22. Prints why if it can't.`;

/** Not development dependencies, because `npm ci` would fail on the oldest Node.js that Headwater supports. */
const PACKAGES = ["@ai-sdk/mcp@2.0.99", "zod@4.6.7", "@modelcontextprotocol/conformance@0.2.0-alpha.12"];
/** Another one for other versions. */
const FOLDER = `.cache/mcp-clients-${hash("sha256", PACKAGES.join()).slice(0, 12)}`;
const NODE = 22;

async function main() {
  const args = process.argv.slice(2);
  if (args.includes("--help")) return console.log(HELP);
  const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");
  await installDependencies({ root, say: console.log });
  const folder = join(root, FOLDER);
  let bin = join(process.execPath, "..");
  try {
    if (Number.parseInt(process.versions.node, 10) < NODE)
      bin = await installNode({ root, major: NODE, say: console.log });
    const what = "MCP clients of npm";
    await installNpmPackages({ folder, packages: PACKAGES, what, bin, say: console.log });
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return console.log(`skipped: test:mcp: ${error.message}`);
  }
  const python = await installPythonPackages({
    root,
    requirements: "script/lib/mcp-requirements.txt",
    cache: ".cache/mcp-python",
    what: "the MCP client of Python",
    say: console.log,
  });
  process.env.MCP_CLIENTS = folder;
  // Its test says that it is skipped.
  if (python.bin) process.env.MCP_PYTHON = join(python.bin, "python");
  return runWithPath(bin, "bash", ["script/test", "test/mcp/strangers", ...args], { root });
}

await runScript(main);
