import { join } from "node:path";
import type { Prelude } from "./prelude.ts";
import type { Workspace } from "./workspace.ts";

/** A path that can't be created, so that deno keeps its cache in memory. */
const NO_CACHE = "/dev/null/none";

export interface DenoOptions {
  hostFolder: string;
  prelude: Prelude;
  workspace: Workspace;
  heapMb: number;
}

/**
 * Returns deno's arguments. They permit access to the private folder, the gateway's socket and the component's file.
 */
export function denoArguments({ hostFolder, prelude, workspace, heapMb }: DenoOptions): string[] {
  const shims = join(hostFolder, "node-");
  const readable = [
    workspace.privateFolder,
    workspace.gatewayPath,
    workspace.modulePath,
    `${shims}fs.js`,
    `${shims}fs-promises.js`,
    `${shims}os.js`,
  ];
  return [
    "run",
    "--quiet",
    "--no-prompt",
    "--no-remote",
    "--no-npm",
    "--no-config",
    "--no-lock",
    "--no-check",
    "--node-modules-dir=none",
    // The environment appears empty. Without this, reading it throws, and libraries read it while they load.
    "--ignore-env",
    `--import-map=${prelude.importMap}`,
    `--allow-net=unix:${workspace.gatewayPath}`,
    `--allow-read=${readable.join(",")}`,
    `--allow-write=${workspace.privateFolder},${workspace.gatewayPath}`,
    "--deny-run",
    "--deny-ffi",
    "--deny-sys",
    `--v8-flags=--max-old-space-size=${heapMb}`,
    prelude.main,
  ];
}

/** Returns deno's environment. `denoFolder` contains its compiled code, and what it stores for the component. */
export function denoEnvironment(denoFolder = NO_CACHE): Record<string, string> {
  return { DENO_DIR: denoFolder, NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1" };
}
