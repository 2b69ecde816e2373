import { join } from "node:path";
import type { Prelude } from "./prelude.ts";
import type { Room } from "./room.ts";

/** Can't be made, so that deno keeps its cache in memory. */
const NO_CACHE = "/dev/null/none";

export interface DenoOptions {
  home: string;
  prelude: Prelude;
  room: Room;
  heapMb: number;
}

/** What deno is told: no permission but the private folder, the gateway's socket and the component's file. */
export function denoArguments({ home, prelude, room, heapMb }: DenoOptions): string[] {
  const shims = join(home, "node-");
  const readable = [
    room.files,
    room.gatewayPath,
    room.module,
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
    // The environment reads as empty instead of throwing: libraries look at it while they load.
    "--ignore-env",
    `--import-map=${prelude.importMap}`,
    `--allow-net=unix:${room.gatewayPath}`,
    `--allow-read=${readable.join(",")}`,
    `--allow-write=${room.files},${room.gatewayPath}`,
    "--deny-run",
    "--deny-ffi",
    "--deny-sys",
    `--v8-flags=--max-old-space-size=${heapMb}`,
    prelude.main,
  ];
}

/** `cacheFolder` is where deno keeps compiled code; see `warm-up`. */
export function denoEnvironment(cacheFolder = NO_CACHE): Record<string, string> {
  return { DENO_DIR: cacheFolder, NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1" };
}
