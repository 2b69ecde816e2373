import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { root } from "../support/built.ts";

/** The last commit before schemas and versions of jobs: what an installation may run that is upgraded to this release. */
export const PREVIOUS = "52dc78795ecfdbadc2d2832ae7be9d6d3b219d41";

/** The kinds of jobs that its workers know, with the newest version of each: what this release may enqueue. */
export const PREVIOUS_READS: Record<string, Record<string, number>> = {
  runs: { notify: 1, tick: 1 },
  emissions: { emissions: 1 },
  deliveries: { "first-attempts": 1, "next-attempt": 1, drain: 1, recover: 1, replay: 1 },
  deletions: { deletions: 1 },
};

const releases = join(root, ".cache/releases");
const OPTIONS = { cwd: root, stdio: ["ignore", "pipe", "inherit"] as ["ignore", "pipe", "inherit"] };
const MOST_BYTES = 512 * 1024 * 1024;

/** Whether this clone has the previous release: a shallow one has not. */
export function hasPrevious(): boolean {
  try {
    execFileSync("git", ["cat-file", "-e", `${PREVIOUS}^{commit}`], { ...OPTIONS, stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** The folder of the previous release. */
export const previousFolder = (): string => join(releases, PREVIOUS);

/** Takes the previous release from git, with the dependencies that it had, and builds it, once; returns its folder. */
export function buildPrevious(): string {
  const folder = previousFolder();
  if (!existsSync(folder)) {
    const fresh = `${folder}-${process.pid}`;
    mkdirSync(fresh, { recursive: true });
    const archive = execFileSync("git", ["archive", PREVIOUS], { ...OPTIONS, maxBuffer: MOST_BYTES });
    execFileSync("tar", ["-x", "-C", fresh], { input: archive });
    renameSync(fresh, folder);
  }
  const modules = join(folder, "node_modules");
  const lock = (where: string) => readFileSync(join(where, "package-lock.json"), "utf8");
  const isShared = lock(folder) === lock(root);
  const isLink = lstatSync(modules, { throwIfNoEntry: false })?.isSymbolicLink();
  if (isLink && !isShared) rmSync(modules);
  if (!existsSync(modules)) {
    if (isShared) symlinkSync(join(root, "node_modules"), modules);
    else
      execFileSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], { ...OPTIONS, cwd: folder });
  }
  execFileSync(process.execPath, ["script/lib/build.mjs"], { ...OPTIONS, cwd: folder });
  return folder;
}

const DECLARED = "reads: 1, writes: 1";

/**
 * Makes a release that enqueues, and reads, a newer version of every job: the built files of this one with other numbers. Returns
 * its folder, which the caller deletes.
 */
export function buildNext(): { folder: string; remove: () => void } {
  const folder = join(releases, `next-${process.pid}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  cpSync(join(root, "dist"), join(folder, "dist"), { recursive: true });
  cpSync(join(root, "package.json"), join(folder, "package.json"));
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  const file = join(folder, "dist/src/queues/define-queue.js");
  const text = readFileSync(file, "utf8");
  if (!text.includes(DECLARED)) throw new Error(`${file} does not declare "${DECLARED}"`);
  writeFileSync(file, text.replace(DECLARED, "reads: 2, writes: 2"));
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
