import { existsSync } from "node:fs";
import { join } from "node:path";
import { landlockPrefix, type Reachable } from "./landlock.ts";

/** Limits that the kernel enforces for one process. */
export interface KernelLimits {
  cpuSeconds: number;
  dataMb: number;
  fileMb: number;
}

/** What a process becomes: its user, if that is another one, and what it may reach. */
export interface Confinement extends Reachable {
  id: number | undefined;
}

/** One way to reduce the privileges of a process: arguments put before its command, or ids passed to Node's `spawn`. */
export interface Step {
  name: string;
  prefix: (confinement: Confinement) => string[];
  /** Set if this step changes the user id: through the prefix, or through the options of `spawn`. */
  setsId?: "by prefix" | "by spawn";
}

const TOOL_FOLDERS = ["/usr/bin", "/bin", "/usr/sbin", "/sbin", "/usr/local/bin"];
const USER_ID = "separate user id";
const NETWORK = "separate network namespace";
const LIMITS = "kernel limits";
const NO_NEW_PRIVILEGES = "no new privileges";
const LANDLOCK = "Landlock";
/** The names of all kinds of steps. */
export const ALL_STEPS = [NETWORK, LIMITS, USER_ID, NO_NEW_PRIVILEGES, LANDLOCK];

/**
 * Returns the variants of each kind of step, the best variant first. The kinds are in the order of their prefixes in
 * the command. `canHaveIds`: the worker may start processes as other users. `deno` is the real path of the program.
 */
export function stepsOf(limits: KernelLimits, canHaveIds: boolean, deno: string): Step[][] {
  const [unshare, prlimit, setpriv, perl] = ["unshare", "prlimit", "setpriv", "perl"].map(findTool);
  const steps: Step[][] = [];
  if (unshare) {
    const user = canHaveIds ? [] : ["--user", "--map-current-user"];
    steps.push([{ name: NETWORK, prefix: () => [unshare, ...user, "--net"] }]);
  }
  if (prlimit) {
    steps.push([{ name: LIMITS, prefix: ({ id }) => [prlimit, ...kernelLimits(limits, id !== undefined)] }]);
  }
  if (canHaveIds) steps.push(setUserId(setpriv));
  if (setpriv) {
    // After the change of the user id, which would clear the signal that ends a sandbox with its worker.
    steps.push([{ name: NO_NEW_PRIVILEGES, prefix: () => [setpriv, "--no-new-privs", "--pdeathsig=KILL"] }]);
  }
  if (perl) {
    // The last one, because the tools before it need more, and because the kernel asks for no new privileges.
    steps.push([{ name: LANDLOCK, prefix: reachable => landlockPrefix(perl, deno, reachable) }]);
  }
  return steps;
}

function setUserId(setpriv: string | undefined): Step[] {
  const bySpawn: Step = { name: USER_ID, setsId: "by spawn", prefix: () => [] };
  if (!setpriv) return [bySpawn];
  const byPrefix = (...more: string[]): Step => ({
    name: USER_ID,
    setsId: "by prefix",
    prefix: ({ id }) => [setpriv, `--reuid=${id}`, `--regid=${id}`, "--clear-groups", ...more],
  });
  // Capabilities in the bounding set could be regained. Clearing it needs a capability that a container may lack.
  return [byPrefix("--bounding-set=-all", "--inh-caps=-all"), byPrefix(), bySpawn];
}

function kernelLimits({ cpuSeconds, dataMb, fileMb }: KernelLimits, hasUserId: boolean): string[] {
  const megabytes = (count: number) => `${count * 1024 * 1024}:${count * 1024 * 1024}`;
  return [
    "--core=0:0",
    "--nofile=256:256",
    `--fsize=${megabytes(fileMb)}`,
    `--data=${megabytes(dataMb)}`,
    `--cpu=${cpuSeconds}:${cpuSeconds + 5}`,
    // The kernel counts threads by user: under the worker's own id, this would limit the worker as well.
    ...(hasUserId ? ["--nproc=128:128"] : []),
  ];
}

function findTool(name: string): string | undefined {
  if (process.platform !== "linux") return undefined;
  return TOOL_FOLDERS.map(folder => join(folder, name)).find(existsSync);
}
