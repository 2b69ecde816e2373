import { skipBecause } from "../../support/skip.ts";

/**
 * Returns what `npm run test:mcp` has installed: a folder with node_modules, or Python with the packages. Skips the tests of a suite
 * without it.
 */
export function installedOrSkip(context: Mocha.Context, name: "MCP_CLIENTS" | "MCP_PYTHON"): string {
  return process.env[name] ?? skipBecause(context, "it needs packages that npm run test:mcp installs");
}
