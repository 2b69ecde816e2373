import { spawn } from "node:child_process";
import { chmod, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ParentMessage } from "./child/wire.ts";
import { denoArguments, denoEnvironment } from "./deno-command.ts";
import type { Prelude } from "./prelude.ts";
import { openRoom, type Room } from "./room.ts";

export interface WarmUpOptions {
  deno: string;
  home: string;
  prelude: Prelude;
  heapMb: number;
}

export interface WarmUp {
  /** The folder with the compiled prelude, once it is there. */
  cacheFolder(): string | undefined;
  /** Resolves when it has ended, whether or not it succeeded. */
  done: Promise<void>;
  stop(): void;
}

const MS = 20_000;
const COMPONENT = `export default { name: "warm-up", version: "0" };`;
const NO_LIMITS = {
  maxEmits: 0,
  maxEmitBytes: 0,
  maxRunBytes: 0,
  maxLogBytes: 0,
  maxDbBytes: 0,
  maxResponseBytes: 0,
};

/**
 * Lets deno compile the prelude once, so that a sandbox starts with half the computing. It runs no component: what a
 * component's process could write to a cache that all share would be code of all others. Until it is done, and where
 * it fails, sandboxes start without a cache.
 */
export function warmUp(options: WarmUpOptions): WarmUp {
  const stopped = new AbortController();
  let cacheFolder: string | undefined;
  const signal = AbortSignal.any([stopped.signal, AbortSignal.timeout(MS)]);
  return {
    cacheFolder: () => cacheFolder,
    done: compile(options, signal).then(
      folder => {
        cacheFolder = folder;
      },
      () => undefined,
    ),
    stop: () => stopped.abort(),
  };
}

async function compile(options: WarmUpOptions, signal: AbortSignal): Promise<string | undefined> {
  const { home } = options;
  const modulePath = join(home, "warm-up.mjs");
  await writeFile(modulePath, COMPONENT);
  const room = await openRoom({ home, name: "warm-up", modulePath, id: undefined });
  const folder = join(home, "deno");
  try {
    // Twice, because the database of the first run is one that deno can't open without writing to it.
    for (let run = 0; run < 2; run++) if (!(await runOnce(options, room, folder, signal))) return undefined;
    // Readable for the sandboxes' users whatever the umask is, and for none of them to write.
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      if (entry.isFile()) await chmod(join(folder, entry.name), 0o444);
    }
    await chmod(folder, 0o755);
    return folder;
  } finally {
    await room.close();
  }
}

async function runOnce(
  options: WarmUpOptions,
  room: Room,
  folder: string,
  signal: AbortSignal,
): Promise<boolean> {
  signal.throwIfAborted();
  const child = spawn(options.deno, denoArguments({ ...options, room }), {
    cwd: room.files,
    env: denoEnvironment(folder),
    stdio: ["pipe", "pipe", "ignore"],
    signal,
    killSignal: "SIGKILL",
  });
  const code = new Promise<number | null>(done => {
    child.once("error", () => undefined);
    child.once("close", done);
  });
  const start: ParentMessage = {
    kind: "start",
    secret: "",
    gatewayPath: room.gatewayPath,
    directory: room.files,
    modulePath: room.module,
    limits: NO_LIMITS,
  };
  child.stdin.on("error", () => undefined).write(`${JSON.stringify(start)}\n`);
  // What it says is that the component is loaded; it ends by itself, its cache written, when its stdin ends.
  child.stdout.once("data", () => child.stdin.end());
  return (await code) === 0;
}
