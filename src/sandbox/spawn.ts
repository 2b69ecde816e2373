import { type ChildProcess, spawn } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { nanoid } from "nanoid";
import type { Dial } from "../egress/dial.ts";
import { openGateway } from "../egress/gateway.ts";
import { Misbehaviour, readMessage } from "./check-message.ts";
import type { ChildLimits, ChildMessage, ParentMessage } from "./child/wire.ts";
import { removeFolder } from "./home.ts";
import { createLineReader } from "./line-reader.ts";
import type { Prelude } from "./prelude.ts";
import type { CallError } from "./protocol.ts";

export interface SpawnOptions {
  deno: string;
  /** Folder of the host. */
  home: string;
  prelude: Prelude;
  /** File of the bundle; deno may read it and nothing else outside the private folder. */
  modulePath: string;
  heapMb: number;
  limits: ChildLimits;
  dial: Dial;
}

/** A running deno with its component on the way in. */
export interface Child {
  pid: number;
  /** The private folder. */
  directory: string;
  send(message: ParentMessage): void;
  /** Set by who is in charge at the moment; called with checked messages only. */
  onMessage: (message: ChildMessage, bytes: number) => void;
  /** Ends the process and all it started; `reason` is what the call under way is told. */
  kill(reason: CallError): void;
  /** Resolves when the process is gone, with why. */
  gone: Promise<CallError>;
}

/** Enough for the fatal message of V8, which says that the heap was full. */
const STDERR_BYTES = 16 * 1024;
const MAX_NOISE_BYTES = 16 * 1024 * 1024;
const OUT_OF_HEAP = /heap out of memory|heap limit|out of memory/i;

let count = 0;

/**
 * Starts deno without any permission but its private folder and its gateway's socket (design.md, "Component
 * runtime"). The folder and the gateway end with the process.
 */
export async function spawnChild(options: SpawnOptions): Promise<Child> {
  const name = String(++count);
  const directory = join(options.home, name);
  const gatewayPath = `${directory}.sock`;
  await mkdir(directory);
  const gateway = await openGateway({ dial: options.dial, socketPath: gatewayPath });
  const process = spawn(options.deno, denoArguments(options, directory, gatewayPath), {
    cwd: directory,
    env: { DENO_DIR: join(options.home, "deno"), NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1" },
    // A group of its own, so that a kill reaches whatever it may have started.
    detached: true,
    stdio: ["pipe", "pipe", "pipe"],
  });
  const child = supervise(process, directory, options.limits);
  void child.gone.then(async () => {
    await gateway.close();
    await removeFolder(directory);
  });
  const { modulePath, limits } = options;
  child.start({ kind: "start", secret: "", gatewayPath, directory, modulePath, limits });
  return child;
}

function denoArguments(options: SpawnOptions, directory: string, gatewayPath: string): string[] {
  const shims = join(options.home, "node-");
  const readable = [
    directory,
    gatewayPath,
    options.modulePath,
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
    `--import-map=${options.prelude.importMap}`,
    `--allow-net=unix:${gatewayPath}`,
    `--allow-read=${readable.join(",")}`,
    `--allow-write=${directory},${gatewayPath}`,
    "--deny-run",
    "--deny-ffi",
    "--deny-sys",
    `--v8-flags=--max-old-space-size=${options.heapMb}`,
    options.prelude.main,
  ];
}

function supervise(process: ChildProcess, directory: string, limits: ChildLimits) {
  const secret = `${nanoid()} `;
  let reason: CallError | undefined;
  let stderr = "";
  const child = {
    pid: process.pid ?? -1,
    directory,
    onMessage: (_message: ChildMessage, _bytes: number) => {},
    send(message: ParentMessage) {
      process.stdin?.write(`${JSON.stringify(message)}\n`);
    },
    start(message: ParentMessage & { kind: "start" }) {
      child.send({ ...message, secret });
    },
    kill(why: CallError) {
      reason ??= why;
      killGroup(process);
    },
    gone: new Promise<CallError>(done => {
      process.once("error", cause => done(ended("Error", `the sandbox could not start: ${cause.message}`)));
      // Not `exit`: what the child wrote last must have been read.
      process.once("close", (code, signal) => done(reason ?? readExit(code, signal, stderr)));
    }),
  };
  const misbehave = (what: string) => child.kill(ended("Error", `The component broke its sandbox: ${what}`));
  const read = createLineReader({
    prefix: secret,
    maxLineBytes: Math.max(limits.maxEmitBytes, (limits.maxResponseBytes * 4) / 3) + 1024 * 1024,
    maxNoiseBytes: MAX_NOISE_BYTES,
    onViolation: misbehave,
    onLine(line) {
      if (reason) return;
      try {
        child.onMessage(readMessage(line, limits.maxEmitBytes), Buffer.byteLength(line));
      } catch (error) {
        if (!(error instanceof Misbehaviour)) throw error;
        misbehave(error.message);
      }
    },
  });
  process.stdout?.on("data", read);
  process.stderr?.on("data", (chunk: Buffer) => {
    stderr = (stderr + chunk.toString("utf8")).slice(-STDERR_BYTES);
  });
  // A child that is gone is told by `gone`; what was still being written to it does not matter.
  process.stdin?.on("error", () => {});
  return child;
}

function killGroup(process: ChildProcess): void {
  try {
    if (process.pid !== undefined) globalThis.process.kill(-process.pid, "SIGKILL");
  } catch {
    process.kill("SIGKILL");
  }
}

function readExit(code: number | null, signal: string | null, stderr: string): CallError {
  if (OUT_OF_HEAP.test(stderr) || signal === "SIGKILL") {
    return ended("Out of Memory", "The component used more memory than it may");
  }
  return ended("Error", `The component ended its own process (${signal ?? `exit code ${code}`})`);
}

/** An error of the host about a call; it has no stack in the component. */
export function ended(code: string, message: string): CallError {
  return { code, message, stack: `${code}: ${message}` };
}
