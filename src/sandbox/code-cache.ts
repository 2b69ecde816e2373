import { spawn } from "node:child_process";
import { chmod, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ParentMessage } from "./child/wire.ts";
import { denoArguments, denoEnvironment } from "./deno-command.ts";
import type { Prelude } from "./prelude.ts";
import { createWorkspace, type Workspace } from "./workspace.ts";

export interface CodeCacheOptions {
  deno: string;
  hostFolder: string;
  prelude: Prelude;
  heapMb: number;
}

export interface CodeCache {
  /** Returns the folder with the compiled prelude; undefined until it is complete. */
  folder(): string | undefined;
  /** Resolves when the preparation has ended, whether or not it succeeded. */
  done: Promise<void>;
  stop(): void;
}

const TIMEOUT_MS = 20_000;
const COMPONENT = `export default { name: "code-cache", version: "0" };`;
const NO_LIMITS = {
  maxEmits: 0,
  maxEmitBytes: 0,
  maxRunBytes: 0,
  maxRunParsedBytes: 0,
  maxLogBytes: 0,
  maxDbBytes: 0,
  maxResponseBytes: 0,
  maxDepth: 0,
  maxEmitParsedBytes: 0,
};

/**
 * Has deno compile the prelude once, so that a sandbox starts with half the processor time. No user's component runs
 * while the cache is written: a component that could write to the shared cache could run code in all other sandboxes.
 * Until the cache is complete, and if its preparation fails, sandboxes start without it.
 */
export function prepareCodeCache(options: CodeCacheOptions): CodeCache {
  const stopped = new AbortController();
  let folder: string | undefined;
  const signal = AbortSignal.any([stopped.signal, AbortSignal.timeout(TIMEOUT_MS)]);
  return {
    folder: () => folder,
    done: compile(options, signal).then(
      compiled => {
        folder = compiled;
      },
      () => undefined,
    ),
    stop: () => stopped.abort(),
  };
}

async function compile(options: CodeCacheOptions, signal: AbortSignal): Promise<string | undefined> {
  const { hostFolder } = options;
  const modulePath = join(hostFolder, "code-cache.mjs");
  await writeFile(modulePath, COMPONENT);
  const workspace = await createWorkspace({ hostFolder, name: "code-cache", modulePath, id: undefined });
  const folder = join(hostFolder, "deno");
  try {
    // Twice, because deno can't open the database that the first run leaves without writing to it.
    for (let run = 0; run < 2; run++) {
      if (!(await runOnce(options, workspace, folder, signal))) return undefined;
    }
    // Readable for the sandboxes' users whatever the umask is, and writable for none of them, the worker's own included.
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      if (entry.isFile()) await chmod(join(folder, entry.name), 0o444);
      else await rm(join(folder, entry.name), { recursive: true, force: true });
    }
    await chmod(folder, 0o555);
    return folder;
  } finally {
    await workspace.remove();
  }
}

async function runOnce(
  options: CodeCacheOptions,
  workspace: Workspace,
  folder: string,
  signal: AbortSignal,
): Promise<boolean> {
  signal.throwIfAborted();
  const child = spawn(options.deno, denoArguments({ ...options, workspace }), {
    cwd: workspace.privateFolder,
    env: denoEnvironment(options.hostFolder, folder),
    stdio: ["pipe", "pipe", "ignore"],
    signal,
    killSignal: "SIGKILL",
  });
  const exitCode = new Promise<number | null>(resolve => {
    child.once("error", () => undefined);
    child.once("close", resolve);
  });
  const start: ParentMessage = {
    kind: "start",
    secret: "",
    gatewayPath: workspace.gatewayPath,
    privateFolder: workspace.privateFolder,
    isShared: false,
    modulePath: workspace.modulePath,
    limits: NO_LIMITS,
  };
  child.stdin.on("error", () => undefined).write(`${JSON.stringify(start)}\n`);
  // The first output says that the component is loaded. At the end of stdin, deno writes its cache and exits.
  child.stdout.once("data", () => child.stdin.end());
  return (await exitCode) === 0;
}
