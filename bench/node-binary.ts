import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { UsageError } from "./entry.ts";

/** Another Node than the one that runs the benchmark. */
export interface NodeBinary {
  path: string;
  /** As `process.version`. */
  version: string;
}

/**
 * Returns a version of Node, such as `24` or `24.9.0`, for the measured processes. It comes from the npm package that the
 * package `node` would install for this machine, whose install scripts don't run, and is kept below `.cache`.
 */
export function installNode(root: string, version: string): NodeBinary {
  if (!/^\d+(\.\d+){0,2}$/.test(version))
    throw new UsageError(`--node must be a version such as 24, not "${version}"`);
  const name = `node-${process.platform}-${process.arch}`;
  const folder = join(root, ".cache/bench", `node-${version}`);
  const path = join(folder, "node_modules", name, "bin/node");
  if (!existsSync(path)) {
    mkdirSync(folder, { recursive: true });
    const args = ["install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund"];
    execFileSync("npm", [...args, `--prefix=${folder}`, `${name}@${version}`], {
      stdio: ["ignore", "ignore", "inherit"],
    });
  }
  return { path, version: execFileSync(path, ["--version"], { encoding: "utf8" }).trim() };
}
