import { type ChildProcess, spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { nanoid } from "nanoid";
import type { Dial } from "../egress/dial.ts";
import { Gateway } from "../egress/gateway.ts";
import { Misbehaviour, readMessage } from "./check-message.ts";
import type { ChildLimits, ChildMessage, ParentMessage } from "./child/wire.ts";
import { denoArguments, denoEnvironment } from "./deno-command.ts";
import { createLineReader } from "./line-reader.ts";
import type { Prelude } from "./prelude.ts";
import type { Privileges } from "./privileges.ts";
import type { CallError } from "./protocol.ts";
import { openRoom } from "./room.ts";
import { openUsage, type Usage } from "./usage.ts";

export interface SpawnOptions {
  privileges: Privileges;
  /** Folder of the host. */
  home: string;
  prelude: Prelude;
  /** Of deno, when there is one; see `warm-up`. */
  cacheFolder: string | undefined;
  /** File of the bundle; deno may read it and nothing else outside the private folder. */
  modulePath: string;
  heapMb: number;
  limits: ChildLimits;
  dial: Dial;
}

/** A running deno with its component on the way in. */
export interface Child {
  pid: number;
  /** All that it may write to lies in here. */
  directory: string;
  usage: Usage;
  /** JSON of a `ParentMessage`. */
  send(json: string): void;
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
const OUT_OF_HEAP = /heap out of memory|heap limit|out of memory|memory allocation of \d+ bytes failed/i;

let count = 0;

/**
 * Starts deno without any permission but its private folder and its gateway's socket (design.md, "Component
 * runtime"), and with as few rights of the system as it allows. The room and the gateway end with the process.
 */
export async function spawnChild(options: SpawnOptions): Promise<Child> {
  const { privileges, home, modulePath, limits } = options;
  const id = privileges.ids?.take();
  const room = await openRoom({ home, name: String(++count), modulePath, id });
  const gateway = await Gateway.open({ dial: options.dial, socketPath: room.gatewayPath });
  await room.giveAway();
  const { file, args, options: rights } = privileges.command(denoArguments({ ...options, room }), id);
  const process = spawn(file, args, {
    ...rights,
    cwd: room.files,
    env: denoEnvironment(options.cacheFolder),
    // A group of its own, so that a kill reaches whatever it may have started.
    detached: true,
  });
  const child = supervise(process, room.files, limits);
  void preferAsVictim(child.pid);
  void child.gone.then(async () => {
    await gateway.close();
    await room.close();
    // Not earlier: a successor with this id could reach what is left.
    if (id !== undefined) privileges.ids?.giveBack(id);
  });
  const { gatewayPath, files: directory } = room;
  child.start({ kind: "start", secret: "", gatewayPath, directory, modulePath: room.module, limits });
  return child;
}

/** When the machine runs out of memory the kernel shall end a sandbox and not the platform or its stores. */
async function preferAsVictim(pid: number): Promise<void> {
  await writeFile(`/proc/${pid}/oom_score_adj`, "1000").catch(() => undefined);
}

function supervise(process: ChildProcess, directory: string, limits: ChildLimits) {
  const secret = `${nanoid()} `;
  const usage = openUsage(process.pid ?? -1);
  let reason: CallError | undefined;
  let stderr = "";
  const child = {
    pid: process.pid ?? -1,
    directory,
    usage,
    onMessage: (_message: ChildMessage, _bytes: number) => {},
    send(json: string) {
      process.stdin?.write(`${json}\n`);
    },
    start(message: ParentMessage & { kind: "start" }) {
      child.send(JSON.stringify({ ...message, secret }));
    },
    kill(why: CallError) {
      // The last look at what it used: the next one would find nothing.
      if (!reason) usage.sample(true);
      reason ??= why;
      killGroup(process);
    },
    gone: new Promise<CallError>(done => {
      process.once("error", cause => done(ended("Error", `the sandbox could not start: ${cause.message}`)));
      // Not `exit`: what the child wrote last must have been read.
      process.once("close", (code, signal) => done(reason ?? readExit(code, signal, stderr)));
    }).finally(usage.close),
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
  if (signal === "SIGXFSZ") return ended("Error", "The component wrote a larger file than it may");
  return ended("Error", `The component ended its own process (${signal ?? `exit code ${code}`})`);
}

/** An error of the host about a call; it has no stack in the component. */
export function ended(code: string, message: string): CallError {
  return { code, message, stack: `${code}: ${message}` };
}
