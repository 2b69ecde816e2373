// Types for script/lib, which is plain JavaScript because it runs before the compiler is installed.
type Settings = Record<string, string | undefined>;

interface StoreKind {
  name: string;
  args(given: { port: number; data: string; pidFile: string; logFile: string }): string[];
  isUp(port: number): Promise<boolean>;
}

declare module "*/script/lib/build.mjs" {
  export function isBuilt(root: string): boolean;
  export function buildIfStale(options: { root: string; say: (line: string) => void }): Promise<void>;
}

declare module "*/script/lib/client.mjs" {
  export function buildClient(root: string, outDir: string): Promise<void>;
}

declare module "*/script/lib/packages.mjs" {
  interface Package {
    folder: string;
  }
  export const PACKAGES: Package[];
  export function packAll(given: {
    root: string;
    outDir: string;
    say(text: string): void;
    packages?: Package[];
  }): Promise<string[]>;
}

declare module "*/script/lib/server-package.mjs" {
  interface Manifest {
    dependencies: Record<string, string>;
    [field: string]: unknown;
  }
  export function manifestOf(own: Manifest): Manifest;
  export function filesOfStart(root: string): Promise<string[]>;
}

declare module "*/script/lib/repository.mjs" {
  export function repositoryOf(root: string, env?: Settings): Promise<string | undefined>;
  export function publicAddress(remote: string): string | undefined;
}

declare module "*/script/lib/image-labels.mjs" {
  export function imageLabels(root: string, env?: Settings): Promise<Record<string, string>>;
}

declare module "*/script/lib/release.mjs" {
  export const PLACES: { file: string; pattern: RegExp }[];
  export function release(given: {
    root: string;
    version: string;
    dryRun: boolean;
    today: string;
    say(text: string): void;
  }): Promise<void>;
  export function releasedChangelog(text: string, version: string, today: string): string;
}

declare module "*/script/lib/env-file.mjs" {
  export function parseEnv(text: string): Record<string, string>;
  export function formatEnv(settings: Settings, heading: string[]): string;
}

declare module "*/script/lib/procfile.mjs" {
  interface Started {
    name: string;
    program: string;
    args: string[];
  }
  export function parseProcfile(text: string): Started[];
  export function readProcfile(file: string): Started[];
  export function procfileFor(args: string[]): "Procfile" | "Procfile.small";
}

declare module "*/script/lib/lockfile.mjs" {
  interface LockEntry {
    integrity?: string;
    resolved?: string;
    link?: boolean;
    dependencies?: Record<string, string>;
    devDependencies?: Record<string, string>;
    optionalDependencies?: Record<string, string>;
  }
  export function lockfileProblems(lockfile: { packages: Record<string, LockEntry> }): string[];
}

declare module "*/script/lib/programs.mjs" {
  interface Program {
    name: string;
    program: string;
    args: string[];
  }
  export function sourceProgram(process: Program): Program;
  export function sourceOf(process: Program): string | undefined;
}

declare module "*/script/lib/source-watch.mjs" {
  export function watchSources(given: {
    root: string;
    signal: AbortSignal;
    onChange(files: string[]): Promise<void>;
    everyMs?: number;
  }): Promise<void>;
  export function isAffected(root: string, entry: string, files: string[]): boolean;
}

declare module "*/script/lib/test-runner.mjs" {
  export function runTestFiles(given: {
    root: string;
    files: string[];
    alone: string[];
    jobs: number;
    options: Record<string, unknown>;
    optionsOf?: (file: string) => Record<string, unknown>;
    env: Record<string, string>;
    say(text: string): void;
    signal: AbortSignal;
    rerun: boolean;
  }): Promise<{
    passed: number;
    failed: number;
    skipped: number;
    flaky: string[];
    files: { file: string }[];
  }>;
}

declare module "*/script/lib/test-files.mjs" {
  export const SLOWEST: readonly string[];
  export function testFiles(root: string): string[];
  export function selectFiles(root: string, words: string[]): string[];
  export function isUnitTest(root: string, file: string): boolean;
  export function howLong(root: string, file: string): "all" | "tests" | "none";
  export function partOf(
    root: string,
    file: string,
    isLong: boolean,
  ): { grep?: string; invert?: boolean } | undefined;
  export function longestFirst(files: string[], durations: Record<string, number>): string[];
}

declare module "*/script/lib/settings.mjs" {
  export function developmentSettings(from: { given: Settings; saved: Settings; port: number }): Settings;
  export function portSetting(text: string | undefined): number;
  export function localUrl(host: string | undefined, port: number): string;
}

declare module "*/script/lib/ports.mjs" {
  export function isFree(port: number, host?: string): Promise<boolean>;
  export function choosePort(first: number, remembered?: number): Promise<number>;
}

declare module "*/script/lib/processes.mjs" {
  export function isOurs(pid: number, marks: string[]): boolean;
  export function within(
    timeoutMs: number,
    test: () => boolean | Promise<boolean>,
    given?: { everyMs?: number; signal?: AbortSignal },
  ): Promise<boolean>;
}

declare module "*/script/lib/first-user.mjs" {
  export function findKey(output: string): string | undefined;
}

declare module "*/script/lib/supervisor.mjs" {
  export class Supervisor {
    constructor(given: {
      root: string;
      env: Settings;
      backOffMs?: number[];
      print(name: string, line: string): void;
      say(text: string): void;
      onSpawn(name: string, pid: number): void;
      onGiveUp(error: Error): void;
    });
    start(process: { name: string; program: string; args: string[] }): void;
    stop(name: string, graceMs: number): Promise<void>;
    restart(name: string, graceMs: number): Promise<void>;
    waiting(): string[];
    killAll(): void;
  }
}

declare module "*/script/lib/store-server.mjs" {
  export interface StoreHandle {
    pid: number;
    port: number;
    adopted: boolean;
    isAlive(): boolean;
    stop(graceMs: number): Promise<void>;
  }
  export function untilFree(port: number): Promise<void>;
  export function startOrAdopt(
    kind: StoreKind,
    given: { folder: string; hold(handle: StoreHandle): void },
  ): Promise<StoreHandle>;
}

declare module "*/script/lib/redis.mjs" {
  export function redisKind(given: { program: string; firstPort: number }): StoreKind;
  export function redisProgram(given: { root: string; say(text: string): void }): Promise<string>;
}

declare module "*/script/lib/wheel.mjs" {
  export function programOfWheel(given: {
    root: string;
    wheel: { requirement: string; sha256: string; platform?: string };
    cached: string;
    title: string;
    instead: string;
    say(text: string): void;
  }): Promise<string>;
}

declare module "*/script/lib/packaged-program.mjs" {
  export function packagedProgram(
    name: string,
    given: { root: string; names?: string[]; find?: () => string | undefined; signal?: AbortSignal },
  ): Promise<string | undefined>;
}

declare module "*/script/lib/base-image.mjs" {
  export const BASE_IMAGE: string;
}

declare module "*/script/lib/commands.mjs" {
  export function findProgram(name: string, path?: string): string | undefined;
  export function lastLine(output: string): string;
  export function run(
    program: string,
    args: string[],
    given?: { cwd?: string; env?: Settings; logFile?: string; signal?: AbortSignal },
  ): Promise<{ code: number; output: string }>;
}

declare module "*/script/lib/apt.mjs" {
  export function canInstall(): boolean;
  export function aptInstall(
    name: string,
    given: { instead: string; logFile: string; signal?: AbortSignal },
  ): Promise<void>;
}

declare module "*/script/lib/chromium.mjs" {
  export function chromiumProgram(given: { root: string; signal?: AbortSignal }): Promise<string | undefined>;
}

declare module "*/script/lib/rabbitmq.mjs" {
  export function rabbitMqProgram(given: { root: string; signal?: AbortSignal }): Promise<string | undefined>;
}

declare module "*/deploy/seccomp/derive.mjs" {
  interface Rule {
    names: string[];
    action: string;
    args?: object[];
  }
  export function derive(standard: object): { syscalls: Rule[] };
}
