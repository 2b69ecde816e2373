import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BASE_IMAGE } from "../../script/lib/base-image.mjs";
import { until } from "../support/until.ts";
import { deployPath } from "./files.ts";

/** What `script/image` builds. */
export const IMAGE = "localhost/headwater-test:latest";

/** Privileges of a container, as podman's arguments. */
export interface Rung {
  name: string;
  args: string[];
  env?: Record<string, string>;
  /** What the machine itself must be able to do in a container, whatever ours says. */
  needs: { args: string[]; command: string[] };
}

const SAFE = ["--read-only", "--tmpfs", "/tmp:rw,exec,nosuid,size=1g,mode=1777", "--cap-drop", "ALL"];
const profile = (file: string) => [
  "--security-opt",
  `seccomp=${file}`,
  "--security-opt",
  "no-new-privileges",
];

/** The rungs of deploy/README.md#sandbox, the best one first. `folder`: for the profile of the last one. */
export function rungs(folder: string): Rung[] {
  const standard = JSON.parse(readFileSync(deployPath("seccomp/headwater.json"), "utf8"));
  // As Docker's default: no namespace of any kind.
  const without = join(folder, "default.json");
  const syscalls = standard.syscalls.filter(({ names }: { names: string[] }) => !names.includes("unshare"));
  writeFileSync(without, JSON.stringify({ ...standard, syscalls }));
  const capabilities = [
    "CHOWN",
    "DAC_OVERRIDE",
    "FOWNER",
    "KILL",
    "SETGID",
    "SETPCAP",
    "SETUID",
    "SYS_ADMIN",
  ];
  const namespace = ["--user", "0:0", "--uidmap", "0:500000:65536", "--gidmap", "0:500000:65536"];
  return [
    {
      name: "root of a user namespace",
      needs: { args: namespace, command: ["true"] },
      args: [
        ...[...SAFE, ...namespace],
        ...capabilities.flatMap(name => ["--cap-add", name]),
        ...["--security-opt", "no-new-privileges"],
      ],
      env: { SANDBOX_FIRST_UID: "30000" },
    },
    {
      name: "the seccomp profile",
      needs: {
        args: ["--user", "1000:1000", "--security-opt", "seccomp=unconfined"],
        command: ["unshare", "--user", "--net", "true"],
      },
      args: [...SAFE, ...profile(deployPath("seccomp/headwater.json"))],
    },
    {
      name: "no namespaces at all",
      needs: { args: [], command: ["true"] },
      args: [...SAFE, ...profile(without)],
    },
  ];
}

/** Podman's arguments that every container of these tests has: no cgroup, which needs systemd. */
const COMMON = [
  ...["--cgroups", "disabled", "--log-driver", "k8s-file", "--pull", "never"],
  // Timers of systemd make them; the limits of this process, which may not raise them.
  ...["--no-healthcheck", "--ulimit", "nofile=4096:4096", "--ulimit", "nproc=4096:4096"],
];

/** The stores and the receiver are on this machine. */
const HOST = ["--network", "host"];

/** Containers of one installation, which end with it. */
export class Containers {
  readonly #folder = mkdtempSync(join(tmpdir(), "headwater-image-"));
  readonly #names: string[] = [];
  #started = 0;

  get folder(): string {
    return this.#folder;
  }

  /** Runs a command in a container of its own and returns its output. Throws with its error. */
  run(command: string[], env: Record<string, string>, rung: Rung): string {
    const args = [
      "run",
      "--rm",
      ...COMMON,
      ...HOST,
      ...rung.args,
      ...environment({ ...env, ...rung.env }),
      IMAGE,
      ...command,
    ];
    return podman(args);
  }

  /** Starts a process and resolves when it is ready; returns its container's name. */
  async start(command: string, env: Record<string, string>, rung: Rung): Promise<string> {
    const name = `headwater-test-${process.pid}-${++this.#started}`;
    this.#names.push(name);
    const vars = environment({ ...env, ...rung.env });
    podman(["run", "--detach", "--name", name, ...COMMON, ...HOST, ...rung.args, ...vars, IMAGE, command]);
    const state = await until(
      () => {
        if (/"msg":"ready"/.test(this.logs(name))) return "ready";
        return this.isRunning(name) ? undefined : "ended";
      },
      { what: `${command} in its container` },
    );
    if (state === "ended") throw new Error(`${command} ended: ${this.logs(name).slice(-2000)}`);
    return name;
  }

  isRunning(name: string): boolean {
    return podman(["inspect", "--format", "{{.State.Running}}", name]).trim() === "true";
  }

  logs(name: string): string {
    const { stdout, stderr } = runPodman(["logs", name]);
    return stdout + stderr;
  }

  /** Runs a program in a container that is running. */
  exec(name: string, ...command: string[]) {
    return runPodman(["exec", name, ...command]);
  }

  /** Stops a container as an orchestrator does, and returns its exit code. */
  stop(name: string, seconds: number): number {
    podman(["stop", "--time", String(seconds), name]);
    return Number(podman(["inspect", "--format", "{{.State.ExitCode}}", name]));
  }

  /** Ends those that still run. */
  removeAll(): void {
    for (const name of this.#names.splice(0)) runPodman(["rm", "--force", "--time", "0", name]);
  }

  close(): void {
    this.removeAll();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

const environment = (env: Record<string, string>) =>
  Object.entries(env).flatMap(([name, value]) => ["--env", `${name}=${value}`]);

/** crun reads a machine that has both versions of cgroups as a mistake, so it is shown one with the second alone. */
const SECOND_CGROUPS = [
  ...["-m", "--propagation", "private", "sh", "-ec"],
  'umount -l /sys/fs/cgroup; mount -t cgroup2 none /sys/fs/cgroup; exec podman "$@"',
  "podman",
];

/** Runs podman to its end. */
export function runPodman(args: string[]) {
  return existsSync("/sys/fs/cgroup/unified")
    ? spawnSync("unshare", [...SECOND_CGROUPS, ...args], { encoding: "utf8" })
    : spawnSync("podman", args, { encoding: "utf8" });
}

/** Returns why this machine can't start a container like this one from another image than ours; undefined if it can. */
export function whyNot({ args, command }: Rung["needs"]): string | undefined {
  const { status, stderr, error } = runPodman([
    "run",
    "--rm",
    ...COMMON,
    ...HOST,
    ...args,
    BASE_IMAGE,
    ...command,
  ]);
  if (status === 0) return undefined;
  const reason = error?.message ?? stderr.trim().split("\n").at(-1);
  return `this machine can't start such a container: ${reason}`;
}

/** Runs a command in a container without a network; `entry` replaces what the image starts. */
export const runAlone = (command: string[], entry: string[] = []) =>
  runPodman(["run", "--rm", ...COMMON, "--network", "none", ...entry, IMAGE, ...command]);

function podman(args: string[]): string {
  const { status, stdout, stderr } = runPodman(args);
  if (status !== 0) throw new Error(`podman ${args[0]}: ${stderr.slice(-2000)}${stdout.slice(-500)}`);
  return stdout;
}
