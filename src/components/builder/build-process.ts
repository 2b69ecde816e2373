import { type ChildProcess, fork } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { LIMITS } from "../../limits/catalogue.ts";
import type { SourceModule } from "../load-modules.ts";
import { type BuildOrder, type BuildResult, type CallMessage, ProcessCalls } from "./calls.ts";

/** The build process ended, or was ended, while it built; which build was the reason can't be known. */
export class BuildLostError extends Error {}

/** What the build process asks for while it builds. */
export interface BuildCallbacks {
  entry(): Promise<SourceModule>;
  resolve(specifier: string, importerId: string): Promise<SourceModule>;
  declaredRange(packageName: string, importerId: string): Promise<string>;
  /** Returns whether to go on with code of this hash. */
  goesOn(hash: string): Promise<boolean>;
  /** Throws `rate-limited` if the account can't have a further set of packages installed. */
  mayInstall(): Promise<void>;
}

const HEAP_MB = 768;
const CHECK_EVERY_MS = 1000;
/** So many checks without a message end it. They are counted, because both processes may have stood still. */
const SILENT_CHECKS = 30;
const PAGE_BYTES = 4096;
/** Above it the kernel ends this process before the platform's own and its stores, if the machine runs out of memory. */
const OOM_SCORE = "600";

/** The program of a build process, and Node's arguments for it. */
let program: { file: string; execArgv: string[] } = beside();

/** Has the build processes of this process run another program from now on. For tests: a built one starts in a fifth of the time. */
export function startBuildsWith(file: string): void {
  program = { file, execArgv: [] };
}

function beside(): typeof program {
  const isSource = import.meta.url.endsWith(".ts");
  // What runs the sources may have been loaded by this process itself, without an argument.
  const compiler = isSource && !process.execArgv.includes("tsx") ? ["--import", "tsx"] : [];
  return {
    file: fileURLToPath(new URL(`./child.${isSource ? "ts" : "js"}`, import.meta.url)),
    execArgv: [...process.execArgv, ...compiler],
  };
}

/** A process that builds components (`child.ts`). It ends itself when it has had nothing to do for a while. */
export class BuildProcess {
  readonly #child: ChildProcess;
  readonly #calls: ProcessCalls;
  readonly #builds = new Map<number, BuildCallbacks>();
  #lastId = 0;
  #silentChecks = 0;
  #lost: BuildLostError | undefined;
  #idle: NodeJS.Timeout | undefined;
  readonly #check: NodeJS.Timeout;

  constructor() {
    this.#child = fork(program.file, {
      execArgv: [...program.execArgv, `--max-old-space-size=${HEAP_MB}`],
      // None of the platform's settings; those of npm come with each build.
      env: {},
      stdio: ["ignore", "ignore", "inherit", "ipc"],
      serialization: "advanced",
    });
    const of = (id: number) => this.#callbacksOf(id);
    this.#calls = new ProcessCalls(message => this.#send(message), {
      alive: async () => undefined,
      entry: (id: number) => of(id).entry(),
      resolve: (id: number, specifier: string, importer: string) => of(id).resolve(specifier, importer),
      declaredRange: (id: number, name: string, importer: string) => of(id).declaredRange(name, importer),
      goesOn: (id: number, hash: string) => of(id).goesOn(hash),
      mayInstall: (id: number) => of(id).mayInstall(),
    });
    this.#child.on("message", message => {
      this.#silentChecks = 0;
      this.#calls.receive(message as CallMessage);
    });
    this.#child.on("error", error => this.#end(error.message));
    this.#child.on("exit", (code, signal) => this.#end(`it ended (${signal ?? `exit code ${code}`})`));
    void writeFile(`/proc/${this.#child.pid}/oom_score_adj`, OOM_SCORE).catch(() => undefined);
    this.#check = setInterval(() => void this.#checkChild(), CHECK_EVERY_MS);
    this.#check.unref();
    this.#holdOpen(false);
  }

  /** Its process id, for tests. */
  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** True until it ends. */
  get isUsable(): boolean {
    return this.#lost === undefined;
  }

  /** Builds a component. Throws what the build throws, and BuildLostError. */
  async build(order: BuildOrder, callbacks: BuildCallbacks): Promise<BuildResult | null> {
    if (this.#lost) throw this.#lost;
    const id = ++this.#lastId;
    this.#builds.set(id, callbacks);
    clearTimeout(this.#idle);
    this.#holdOpen(true);
    try {
      return await this.#calls.call<BuildResult | null>("build", id, order);
    } finally {
      this.#builds.delete(id);
      if (this.#builds.size === 0) this.#rest();
    }
  }

  #callbacksOf(id: number): BuildCallbacks {
    const callbacks = this.#builds.get(id);
    if (!callbacks) throw new Error("the build has ended");
    return callbacks;
  }

  #send(message: CallMessage): void {
    // Once it has ended, `#end` fails the calls.
    if (this.#child.connected) this.#child.send(message, () => undefined);
  }

  /** While nothing is built it does not keep this process from ending. */
  #holdOpen(isHeld: boolean): void {
    for (const held of [this.#child, this.#child.channel]) {
      if (isHeld) held?.ref();
      else held?.unref();
    }
  }

  #rest(): void {
    this.#holdOpen(false);
    this.#idle = setTimeout(() => this.#kill("it was idle"), LIMITS.buildProcessIdleMs.value);
    this.#idle.unref();
  }

  async #checkChild(): Promise<void> {
    if (this.#builds.size === 0) return;
    this.#silentChecks += 1;
    if (this.#silentChecks > SILENT_CHECKS) return this.#kill("it did not respond");
    const bytes = await memoryOf(this.#child.pid ?? 0);
    if (bytes > LIMITS.buildMemoryBytes.value) this.#kill("it took more memory than it may");
  }

  #kill(reason: string): void {
    this.#child.kill("SIGKILL");
    this.#end(reason);
  }

  #end(reason: string): void {
    if (this.#lost) return;
    this.#lost = new BuildLostError(`the build process was lost: ${reason}`);
    clearInterval(this.#check);
    clearTimeout(this.#idle);
    this.#calls.fail(this.#lost);
  }
}

/** Returns the resident memory of the process and of its esbuild processes; 0 on systems other than Linux. */
async function memoryOf(pid: number): Promise<number> {
  const read = (path: string) => readFile(path, "utf8").catch(() => "");
  const children = (await read(`/proc/${pid}/task/${pid}/children`)).split(" ").filter(Boolean);
  const names = await Promise.all(children.map(child => read(`/proc/${child}/comm`)));
  const counted = [String(pid), ...children.filter((_, index) => names[index]?.trim() === "esbuild")];
  const sizes = await Promise.all(counted.map(async id => (await read(`/proc/${id}/statm`)).split(" ")[1]));
  return sizes.reduce((sum, pages) => sum + Number(pages ?? 0) * PAGE_BYTES, 0);
}
