import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { nanoid } from "nanoid";
import type { Dial } from "../egress/dial.ts";
import { Gateway } from "../egress/gateway.ts";
import { giveWay } from "../fairness/niceness.ts";
import { type MessageSize, ProtocolViolation, readMessage } from "./check-message.ts";
import type { ChildLimits, ChildMessage, ParentMessage } from "./child/wire.ts";
import { denoArguments, denoEnvironment } from "./deno-command.ts";
import { createLineReader } from "./line-reader.ts";
import type { Prelude } from "./prelude.ts";
import type { Privileges } from "./privileges.ts";
import { ProcessUsage } from "./process-usage.ts";
import { type CallError, hostError, SANDBOX_LOST } from "./protocol.ts";
import { createWorkspace, type Workspace } from "./workspace.ts";

export interface SpawnOptions {
  privileges: Privileges;
  hostFolder: string;
  prelude: Prelude;
  /** Folder of deno's code cache, if it is ready; see `prepareCodeCache`. */
  cacheFolder: string | undefined;
  /** Several sources may use the process. */
  isShared: boolean;
  /** File that contains the bundle. deno can't read any other file outside of the private folder. */
  modulePath: string;
  heapMb: number;
  limits: ChildLimits;
  dial: Dial;
}

const STDERR_BYTES = 16 * 1024;
const MAX_NOISE_BYTES = 16 * 1024 * 1024;
const FROM_OUTSIDE = new Set<NodeJS.Signals>(["SIGKILL", "SIGTERM", "SIGHUP", "SIGINT", "SIGQUIT"]);
const OUT_OF_HEAP = /heap out of memory|heap limit|out of memory|memory allocation of \d+ bytes failed/i;

let spawned = 0;

/**
 * Starts deno with a component (docs/design.md#sandbox). It has no permissions except for its private folder and its
 * gateway's socket, and as few privileges as the system supports. Resolves before the component is loaded. The
 * workspace, the gateway and the user id are free again when the process ends, or if it can't be started; then this
 * throws.
 */
export async function spawnChild(options: SpawnOptions): Promise<Child> {
  const { privileges, hostFolder, modulePath, isShared, cacheFolder, limits } = options;
  const id = privileges.ids?.acquire();
  let workspace: Workspace | undefined;
  let gateway: Gateway | undefined;
  const cleanUp = async () => {
    try {
      await gateway?.close();
    } finally {
      await workspace?.remove();
      // Not earlier, because the next sandbox with this id could access the remaining files.
      if (id !== undefined) privileges.ids?.release(id);
    }
  };
  try {
    workspace = await createWorkspace({ hostFolder, name: String(++spawned), modulePath, cacheFolder, id });
    const { privateFolder, gatewayPath } = workspace;
    gateway = await Gateway.open({ dial: options.dial, socketPath: gatewayPath });
    await workspace.grantGateway();
    const { main, importMap, shims } = options.prelude;
    const folders = [privateFolder, ...(workspace.denoFolder ? [workspace.denoFolder] : [])];
    const command = privileges.command(denoArguments({ ...options, workspace }), {
      id,
      readable: [
        main,
        importMap,
        ...shims,
        workspace.modulePath,
        ...folders,
        ...(cacheFolder ? [cacheFolder] : []),
      ],
      writable: [privateFolder],
    });
    const process = spawn(command.file, command.args, {
      ...command.options,
      cwd: privateFolder,
      env: denoEnvironment(hostFolder, workspace.denoFolder),
      // Its own process group, so that a kill includes every process it may have started.
      detached: true,
    });
    // Rejects if the system can't start it, for example for lack of processes.
    if (process.pid === undefined) await once(process, "spawn");
    const child = new Child(process, folders, limits);
    void preferForOomKill(child.pid);
    giveWay(child.pid);
    void child.gone.then(cleanUp).catch(() => undefined);
    child.start({ gatewayPath, privateFolder, isShared, modulePath: workspace.modulePath, limits });
    return child;
  } catch (error) {
    await cleanUp().catch(() => undefined);
    throw error;
  }
}

/** If the machine runs out of memory, the kernel should end a sandbox rather than the platform or its stores. */
async function preferForOomKill(pid: number): Promise<void> {
  await writeFile(`/proc/${pid}/oom_score_adj`, "1000").catch(() => undefined);
}

/** A running deno process with one component. */
export class Child {
  readonly pid: number;
  /** The folders whose bytes count against the disk limit. */
  readonly folders: readonly string[];
  readonly usage: ProcessUsage;
  /** Resolves when the process has ended, with the reason. */
  readonly gone: Promise<CallError>;
  /** Receives each checked message and the length of its line. The current user of the child sets it. */
  onMessage: (message: ChildMessage, size: MessageSize) => void = () => {};
  readonly #process: ChildProcess;
  /** Precedes each message of this child, so that other output of the component is not mistaken for messages. */
  readonly #secret = `${nanoid()} `;
  readonly #limits: ChildLimits;
  #killReason: CallError | undefined;
  /** What the component said last, before it ended its process. */
  #stray: CallError | undefined;
  /** The end of stderr. It is long enough for V8's last message, which says that the heap was full. */
  #stderr = "";

  constructor(process: ChildProcess, folders: readonly string[], limits: ChildLimits) {
    this.pid = process.pid ?? -1;
    this.folders = folders;
    this.usage = new ProcessUsage(this.pid);
    this.#process = process;
    this.#limits = limits;
    this.gone = this.#whenGone();
    this.#readOutput();
  }

  start(options: Omit<ParentMessage & { kind: "start" }, "kind" | "secret">): void {
    const message: ParentMessage = { kind: "start", secret: this.#secret, ...options };
    this.send(JSON.stringify(message));
  }

  /** Sends the JSON of a `ParentMessage`. */
  send(json: string): void {
    this.#process.stdin?.write(`${json}\n`);
  }

  /** Ends the process and every process it has started. The call under way fails with `reason`. */
  kill(reason: CallError): void {
    // The last chance to measure what it used.
    if (!this.#killReason) this.usage.sample(true);
    this.#killReason ??= reason;
    killGroup(this.#process);
  }

  /** Ends the process because it broke the rules of the protocol. */
  reportViolation(reason: string): void {
    this.kill(hostError("Error", `The component violated the sandbox protocol: ${reason}`));
  }

  #whenGone(): Promise<CallError> {
    return new Promise<CallError>(resolve => {
      this.#process.once("error", cause =>
        resolve(hostError("Error", `The sandbox could not be started: ${cause.message}`)),
      );
      // Not `exit`, because at `close` the last output of the child has been read.
      this.#process.once("close", (code, signal) =>
        resolve(this.#killReason ?? explainExit(code, signal, this.#stderr, this.#stray)),
      );
    }).finally(() => this.usage.close());
  }

  #readOutput(): void {
    const { maxEmitBytes, maxResponseBytes } = this.#limits;
    const read = createLineReader({
      prefix: this.#secret,
      maxLineBytes: Math.max(maxEmitBytes, (maxResponseBytes * 4) / 3) + 1024 * 1024,
      maxNoiseBytes: MAX_NOISE_BYTES,
      onViolation: reason => this.reportViolation(reason),
      onLine: line => this.#handleLine(line),
    });
    this.#process.stdout?.on("data", read);
    this.#process.stderr?.on("data", (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString("utf8")).slice(-STDERR_BYTES);
    });
    // `gone` reports that the child has ended; what was still being written to it does not matter.
    this.#process.stdin?.on("error", () => {});
  }

  #handleLine(line: string): void {
    if (this.#killReason) return;
    try {
      const { message, size } = readMessage(line, this.#limits);
      if (message.kind === "stray") this.#stray = message.error;
      else this.onMessage(message, size);
    } catch (error) {
      if (!(error instanceof ProtocolViolation)) throw error;
      this.reportViolation(error.message);
    }
  }
}

function killGroup(process: ChildProcess): void {
  try {
    if (process.pid !== undefined) globalThis.process.kill(-process.pid, "SIGKILL");
  } catch {
    process.kill("SIGKILL");
  }
}

/**
 * Returns why a process ended that the host did not end. A signal of this list comes from outside: deno has no
 * permission to send one, and its own crashes end with others.
 */
function explainExit(
  code: number | null,
  signal: NodeJS.Signals | null,
  stderr: string,
  stray: CallError | undefined,
): CallError {
  if (OUT_OF_HEAP.test(stderr)) return hostError("Out of Memory", "The component exceeded its memory limit");
  if (signal === "SIGXFSZ") return hostError("Error", "The component exceeded the size limit of a file");
  if (signal === "SIGXCPU") return hostError("Timeout", "The component exceeded its processor time");
  if (signal !== null && FROM_OUTSIDE.has(signal)) {
    return hostError(
      SANDBOX_LOST,
      `The sandbox was ended from outside (${signal}), for example for lack of memory`,
    );
  }
  if (stray !== undefined) {
    const message = `The component ended its own process, by an error that no call waited for: ${stray.message}`;
    return hostError(stray.code, message, stray.stack);
  }
  return hostError("Error", `The component ended its own process (${signal ?? `exit code ${code}`})`);
}
