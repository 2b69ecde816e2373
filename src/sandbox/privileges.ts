import { type StdioOptions, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { chmod, chown, copyFile, link, mkdir, realpath, stat, symlink, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { dirname, join } from "node:path";
import { DENO, denoEnvironment, programFolder } from "./deno-command.ts";
import {
  ALL_STEPS,
  type Confinement,
  inheritedDescriptors,
  type KernelLimits,
  type Step,
  stepsOf,
} from "./privilege-steps.ts";

/** How sandboxes are started with fewer privileges than the worker (docs/decisions/0010-sandbox-privileges.md). */
export interface Privileges {
  /** Names of the restrictions that this system supports, for the log. */
  active: readonly string[];
  /** Names of the restrictions that it does not support. */
  missing: readonly string[];
  /** The user ids of sandboxes; undefined if sandboxes run as the worker's user. */
  ids: UserIds | undefined;
  /** Returns the command that starts deno with these restrictions. */
  command(denoArguments: readonly string[], confinement: Confinement): Command;
  close(): Promise<void>;
}

export interface Command {
  file: string;
  args: string[];
  options: { stdio: StdioOptions; uid?: number; gid?: number };
}

export interface PrivilegeOptions {
  deno: string;
  /** The other users must be able to reach it. */
  hostFolder: string;
  firstUserId: number;
  limits: KernelLimits;
}

const PROBE_MS = 10_000;
/** Checks the id too, because not every tool fails if it can't set the id. */
const PROBE =
  "const [id] = Deno.args; if (id !== undefined && (Deno.uid() !== +id || Deno.gid() !== +id)) Deno.exit(1);";

/**
 * Finds out which steps this system supports by starting deno with them. Steps that fail are listed in `missing`. The
 * user ids and descriptors are free again after `close`, or if this throws.
 */
export async function findPrivileges(options: PrivilegeOptions): Promise<Privileges> {
  const isRoot = process.getuid?.() === 0;
  const ids = isRoot ? await claimUserIds(options.firstUserId) : undefined;
  let devNull: number | undefined;
  const close = async () => {
    if (devNull !== undefined) closeSync(devNull);
    devNull = undefined;
    await ids?.close();
  };
  try {
    devNull = openSync("/dev/null", "r");
    const { chosen, command } = await choosePrivileges(options, ids, devNull);
    const hasUserId = chosen.some(step => step.setsId);
    // 711: other users can pass through the folder but not list it.
    await chmod(options.hostFolder, hasUserId ? 0o711 : 0o700);
    if (!hasUserId) await ids?.close();
    const active = chosen.map(step => step.name);
    return {
      active,
      missing: ALL_STEPS.filter(name => !active.includes(name)),
      ids: hasUserId ? ids : undefined,
      command,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function choosePrivileges(
  options: PrivilegeOptions,
  ids: UserIds | undefined,
  devNull: number,
): Promise<{ chosen: Step[]; command: Privileges["command"] }> {
  const deno = await linkDeno(options, ids !== undefined);
  const stdio = stdioWithout(inheritedDescriptors(), devNull);
  const compose = (steps: readonly Step[]) => (args: readonly string[], confinement: Confinement) => {
    const [file = DENO, ...rest] = [...steps.flatMap(step => step.prefix(confinement)), DENO, ...args];
    const { id } = confinement;
    const bySpawn = steps.some(step => step.setsId === "by spawn") && id !== undefined;
    return { file, args: rest, options: { stdio, ...(bySpawn && { uid: id, gid: id }) } };
  };
  const chosen = await chooseSteps(stepsOf(options.limits, ids !== undefined, deno), async steps => {
    const id = steps.some(step => step.setsId) ? ids?.first : undefined;
    return probe(compose(steps), options.hostFolder, id);
  });
  return { chosen, command: compose(chosen) };
}

/** Tries the best variants of all kinds together, which usually works. If not, it adds one kind after the other. */
async function chooseSteps(kinds: Step[][], works: (steps: Step[]) => Promise<boolean>): Promise<Step[]> {
  const best = kinds.flatMap(variants => variants.slice(0, 1));
  if (best.length === 0 || (await works(best))) return best;
  let chosen: Step[] = [];
  // From the innermost prefix outwards.
  for (const variants of [...kinds].reverse()) {
    for (const variant of variants) {
      if (!(await works([variant, ...chosen]))) continue;
      chosen = [variant, ...chosen];
      break;
    }
  }
  return chosen;
}

/** Returns true if deno starts in a folder that the id owns and can read a file in the host's folder. */
async function probe(
  compose: Privileges["command"],
  hostFolder: string,
  id: number | undefined,
): Promise<boolean> {
  const folder = join(hostFolder, "probe");
  const file = join(folder, "probe.js");
  try {
    await mkdir(folder, { recursive: true });
    await writeFile(file, PROBE, { mode: 0o644 });
    if (id !== undefined) {
      await chmod(hostFolder, 0o711);
      await chown(folder, id, id);
    }
    const denoArguments = ["run", "--no-prompt", "--no-config", "--no-lock", "--allow-sys=uid,gid", file];
    const command = compose([...denoArguments, ...(id === undefined ? [] : [String(id)])], {
      id,
      readable: [file],
      writable: [],
    });
    const child = spawn(command.file, command.args, {
      ...command.options,
      cwd: folder,
      env: denoEnvironment(hostFolder),
      timeout: PROBE_MS,
    });
    child.stdout?.resume();
    child.stderr?.resume();
    return await new Promise<boolean>(resolve => {
      child.once("error", () => resolve(false));
      child.once("close", code => resolve(code === 0));
    });
  } catch {
    return false;
  }
}

/** Returns a `stdio` option that replaces the descriptors which a child would inherit by `/dev/null`. */
function stdioWithout(inherited: readonly number[], devNull: number): StdioOptions {
  const stdio: ("pipe" | "ignore" | number)[] = ["pipe", "pipe", "pipe"];
  for (const number of inherited) {
    while (stdio.length < number) stdio.push("ignore");
    stdio[number] = devNull;
  }
  return stdio;
}

/**
 * Makes deno the program `deno` of a folder on the PATH, so that what a component finds as the name of its program has no
 * path of the server: a link, or a copy if deno is below a folder such as `/root`, which only its owner may enter, and other users
 * must reach it. Returns the path of the file itself.
 */
async function linkDeno({ deno, hostFolder }: PrivilegeOptions, forOtherUsers: boolean): Promise<string> {
  const folder = programFolder(hostFolder);
  const path = join(folder, DENO);
  await mkdir(folder, { mode: 0o755, recursive: true });
  await chmod(folder, 0o755);
  const real = await realpath(deno);
  if (!forOtherUsers || (await canBeEntered(real))) {
    await symlink(real, path);
    return real;
  }
  await link(real, path).catch(() => copyFile(real, path));
  await chmod(path, 0o755);
  return path;
}

/** Returns true if other users may enter all folders above a file. */
async function canBeEntered(file: string): Promise<boolean> {
  for (let path = dirname(file); path !== dirname(path); path = dirname(path)) {
    if (((await stat(path)).mode & 0o001) === 0) return false;
  }
  return true;
}

/** A block of user ids, and group ids of the same numbers, that no other host on this machine uses. */
interface UserIds {
  first: number;
  last: number;
  /** Returns the lowest free id. Throws if none is free. */
  acquire(): number;
  release(id: number): void;
  /** Gives up the block. */
  close(): Promise<void>;
}

const BLOCK_SIZE = 1000;
const BLOCK_COUNT = 64;

/**
 * Claims a block of a thousand ids from `firstId` on, so that the sandboxes of two workers never share an id. The claim
 * is a socket in the abstract namespace: the kernel grants it to one process only and frees it if that process dies.
 * Returns undefined if all blocks are claimed or the system has no such sockets.
 */
export async function claimUserIds(firstId: number): Promise<UserIds | undefined> {
  if (process.platform !== "linux") return undefined;
  for (let block = 0; block < BLOCK_COUNT; block++) {
    const first = firstId + block * BLOCK_SIZE;
    const claim = await listen(`\0headwater-sandbox-ids-${first}`);
    if (claim) return createUserIds(first, claim);
  }
  return undefined;
}

function listen(path: string): Promise<Server | undefined> {
  return new Promise(resolve => {
    const server = createServer(socket => socket.destroy());
    server.once("error", () => resolve(undefined));
    server.listen(path, () => resolve(server.unref()));
  });
}

function createUserIds(first: number, claim: Server): UserIds {
  const used = new Set<number>();
  return {
    first,
    last: first + BLOCK_SIZE - 1,
    acquire() {
      for (let id = first; id < first + BLOCK_SIZE; id++) {
        if (used.has(id)) continue;
        used.add(id);
        return id;
      }
      throw new Error("all user ids for sandboxes are in use");
    },
    release: id => void used.delete(id),
    // Closing it twice does nothing.
    close: () => new Promise<void>(resolve => claim.close(() => resolve())),
  };
}
