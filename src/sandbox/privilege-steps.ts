import { existsSync } from "node:fs";
import { join } from "node:path";

/** Of the kernel, for one process. */
export interface KernelLimits {
  cpuSeconds: number;
  dataMb: number;
  fileMb: number;
}

/** One step of less privilege: words put before the command, or ids for Node's own spawn. */
export interface Step {
  name: string;
  words: (id: number | undefined) => string[];
  ownId?: "by words" | "by spawn";
}

const TOOL_FOLDERS = ["/usr/bin", "/bin", "/usr/sbin", "/sbin", "/usr/local/bin"];
const OWN_ID = "a user id of its own";
const NETWORK = "a network namespace of its own";
const LIMITS = "kernel limits";
const NO_NEW = "no new privileges";
/** Of all steps there are. */
export const ALL_STEPS = [NETWORK, LIMITS, OWN_ID, NO_NEW];

/** For each kind of step its forms, the best first. Their order is that of the words in the command. */
export function stepsOf(limits: KernelLimits, canHaveIds: boolean): Step[][] {
  const [unshare, prlimit, setpriv] = ["unshare", "prlimit", "setpriv"].map(findTool);
  const steps: Step[][] = [];
  if (unshare) {
    const user = canHaveIds ? [] : ["--user", "--map-current-user"];
    steps.push([{ name: NETWORK, words: () => [unshare, ...user, "--net"] }]);
  }
  if (prlimit) {
    steps.push([{ name: LIMITS, words: id => [prlimit, ...kernelLimits(limits, id !== undefined)] }]);
  }
  if (canHaveIds) steps.push(ownIds(setpriv));
  if (setpriv) {
    // Set last: a change of the id would clear the signal that ends a sandbox together with its worker.
    steps.push([{ name: NO_NEW, words: () => [setpriv, "--no-new-privs", "--pdeathsig=KILL"] }]);
  }
  return steps;
}

function ownIds(setpriv: string | undefined): Step[] {
  const bySpawn: Step = { name: OWN_ID, ownId: "by spawn", words: () => [] };
  if (!setpriv) return [bySpawn];
  const byWords = (...more: string[]): Step => ({
    name: OWN_ID,
    ownId: "by words",
    words: id => [setpriv, `--reuid=${id}`, `--regid=${id}`, "--clear-groups", ...more],
  });
  // What is in the bounding set could come back; taking it away needs a capability that a container may lack.
  return [byWords("--bounding-set=-all", "--inh-caps=-all"), byWords(), bySpawn];
}

function kernelLimits({ cpuSeconds, dataMb, fileMb }: KernelLimits, hasOwnId: boolean): string[] {
  const megabytes = (count: number) => `${count * 1024 * 1024}:${count * 1024 * 1024}`;
  return [
    "--core=0:0",
    "--nofile=256:256",
    `--fsize=${megabytes(fileMb)}`,
    `--data=${megabytes(dataMb)}`,
    `--cpu=${cpuSeconds}:${cpuSeconds + 5}`,
    // Threads are counted by user: with the worker's id this would be the worker's limit as well.
    ...(hasOwnId ? ["--nproc=128:128"] : []),
  ];
}

function findTool(name: string): string | undefined {
  if (process.platform !== "linux") return undefined;
  return TOOL_FOLDERS.map(folder => join(folder, name)).find(existsSync);
}
