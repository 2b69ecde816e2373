import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { Prelude } from "./prelude.ts";
import type { Workspace } from "./workspace.ts";

/** The name of the program. Under that of `node`, deno would grant all permissions. */
export const DENO = "deno";

/** Returns the folder, on the PATH of sandboxes, that has the program. */
export const programFolder = (hostFolder: string): string => join(hostFolder, "bin");

/** A path that can't be created, so that deno keeps its cache in memory. */
const NO_CACHE = "/dev/null/none";

export interface DenoOptions {
  prelude: Prelude;
  workspace: Workspace;
  heapMb: number;
}

/**
 * Returns deno's arguments. They permit access to the private folder, the gateway's socket and the component's file.
 */
export function denoArguments({ prelude, workspace, heapMb }: DenoOptions): string[] {
  const { privateFolder, gatewayPath, modulePath } = workspace;
  const readable = [privateFolder, gatewayPath, modulePath, ...prelude.shims];
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

/**
 * Returns deno's environment. `denoFolder` contains its compiled code, and what it stores for the component. The native code of
 * subsystems that Node does not have is switched off: GPUs and drawing.
 */
export function denoEnvironment(hostFolder: string, denoFolder = NO_CACHE): Record<string, string> {
  return {
    PATH: programFolder(hostFolder),
    TZ: "UTC",
    DENO_DIR: denoFolder,
    NO_COLOR: "1",
    DENO_NO_UPDATE_CHECK: "1",
    DENO_WEBGPU_BACKEND: "none",
    DENO_DISABLE_OFFSCREEN_CANVAS: "1",
  };
}

const require = createRequire(import.meta.url);

/**
 * Returns the path of the deno binary that the npm package `deno` installs for this machine; throws if there is none.
 * The package's launcher is not used, because it would be one more process between the worker and its signals.
 */
export function findDeno(): string {
  const { platform, arch } = process;
  const file = platform === "win32" ? "deno.exe" : "deno";
  const packages =
    platform === "linux"
      ? [`@deno/linux-${arch}-glibc`, `@deno/linux-${arch}-musl`]
      : [`@deno/${platform}-${arch}`];
  for (const name of packages) {
    try {
      const path = join(dirname(require.resolve(`${name}/package.json`)), file);
      if (existsSync(path)) return path;
    } catch {
      // The package is for another libc and not installed here.
    }
  }
  throw new Error(`no deno for ${platform} ${arch}: is the npm package "deno" installed?`);
}
