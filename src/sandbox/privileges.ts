import { type StdioOptions, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { chmod, chown, copyFile, link, mkdir, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { denoEnvironment } from "./deno-command.ts";
import { inheritedDescriptors } from "./descriptors.ts";
import { ALL_STEPS, type KernelLimits, type Step, stepsOf } from "./privilege-steps.ts";
import { claimUserIds, type UserIds } from "./user-ids.ts";

/** How sandboxes are started with less than the worker's own rights (docs/decisions/0010-sandbox-privileges.md). */
export interface Privileges {
  /** What holds on this system, and what is missing of the best, in words for the log. */
  holds: readonly string[];
  lacks: readonly string[];
  /** Sandboxes have ids of their own; elsewhere they run as the worker does. */
  ids: UserIds | undefined;
  /** The command that starts deno so, as the user `id`. */
  command(denoArguments: readonly string[], id: number | undefined): Command;
  close(): Promise<void>;
}

export interface Command {
  file: string;
  args: string[];
  options: { stdio: StdioOptions; uid?: number; gid?: number };
}

export interface PrivilegeOptions {
  deno: string;
  /** The host's folder; it must be reachable for the ids. */
  home: string;
  firstUserId: number;
  limits: KernelLimits;
}

const PROBE_MS = 10_000;
/** Not every tool complains about an id that it can't set. */
const PROBE =
  "const [id] = Deno.args; if (id !== undefined && (Deno.uid() !== +id || Deno.gid() !== +id)) Deno.exit(1);";

/** Tries which steps this system allows, by starting deno with them; what fails is left out and told in `lacks`. */
export async function findPrivileges(options: PrivilegeOptions): Promise<Privileges> {
  const isRoot = process.getuid?.() === 0;
  const ids = isRoot ? await claimUserIds(options.firstUserId) : undefined;
  const deno = ids ? await reachableDeno(options) : options.deno;
  const nothing = openSync("/dev/null", "r");
  const stdio = stdioWithout(inheritedDescriptors(), nothing);
  const compose = (steps: readonly Step[]) => (args: readonly string[], id: number | undefined) => {
    const [file = deno, ...rest] = [...steps.flatMap(step => step.words(id)), deno, ...args];
    const bySpawn = steps.some(step => step.ownId === "by spawn") && id !== undefined;
    return { file, args: rest, options: { stdio, ...(bySpawn && { uid: id, gid: id }) } };
  };
  const chosen = await chooseSteps(stepsOf(options.limits, ids !== undefined), async steps => {
    const id = steps.some(step => step.ownId) ? ids?.first : undefined;
    return probe(compose(steps), options.home, id);
  });
  const hasOwnId = chosen.some(step => step.ownId);
  // Enough to pass through, too little to see who else is there.
  await chmod(options.home, hasOwnId ? 0o711 : 0o700);
  if (!hasOwnId) await ids?.close();
  const holds = chosen.map(step => step.name);
  return {
    holds,
    lacks: ALL_STEPS.filter(name => !holds.includes(name)),
    ids: hasOwnId ? ids : undefined,
    command: compose(chosen),
    async close() {
      closeSync(nothing);
      if (hasOwnId) await ids?.close();
    },
  };
}

/** All together first, which is the rule; else each kind by itself on top of those that worked. */
async function chooseSteps(kinds: Step[][], works: (steps: Step[]) => Promise<boolean>): Promise<Step[]> {
  const best = kinds.flatMap(forms => forms.slice(0, 1));
  if (best.length === 0 || (await works(best))) return best;
  let chosen: Step[] = [];
  // From the innermost outwards.
  for (const forms of [...kinds].reverse()) {
    for (const form of forms) {
      if (!(await works([form, ...chosen]))) continue;
      chosen = [form, ...chosen];
      break;
    }
  }
  return chosen;
}

/** True when deno runs so, in a folder that the id owns, and a file of the host's folder can be read. */
async function probe(
  compose: (args: readonly string[], id: number | undefined) => Command,
  home: string,
  id: number | undefined,
): Promise<boolean> {
  const folder = join(home, "probe");
  const file = join(folder, "probe.js");
  try {
    await mkdir(folder, { recursive: true });
    await writeFile(file, PROBE, { mode: 0o644 });
    if (id !== undefined) {
      await chmod(home, 0o711);
      await chown(folder, id, id);
    }
    const words = ["run", "--no-prompt", "--no-config", "--no-lock", "--allow-sys=uid,gid", file];
    const command = compose([...words, ...(id === undefined ? [] : [String(id)])], id);
    const child = spawn(command.file, command.args, {
      ...command.options,
      cwd: folder,
      env: denoEnvironment(),
      timeout: PROBE_MS,
    });
    child.stdout?.resume();
    child.stderr?.resume();
    return await new Promise<boolean>(done => {
      child.once("error", () => done(false));
      child.once("close", code => done(code === 0));
    });
  } catch {
    return false;
  }
}

/** Descriptors that would be handed on are covered by one of `/dev/null`. */
function stdioWithout(inherited: readonly number[], nothing: number): StdioOptions {
  const stdio: ("pipe" | "ignore" | number)[] = ["pipe", "pipe", "pipe"];
  for (const number of inherited) {
    while (stdio.length < number) stdio.push("ignore");
    stdio[number] = nothing;
  }
  return stdio;
}

/** deno, or a copy in the host's folder where it lies below a folder such as `/root` that only its owner may enter. */
async function reachableDeno({ deno, home }: PrivilegeOptions): Promise<string> {
  for (let path = dirname(deno); path !== dirname(path); path = dirname(path)) {
    if (((await stat(path)).mode & 0o001) !== 0) continue;
    const copy = join(home, "deno-binary");
    await link(deno, copy).catch(() => copyFile(deno, copy));
    await chmod(copy, 0o755);
    return copy;
  }
  return deno;
}
