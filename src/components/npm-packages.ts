import { createHash, randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, realpath, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AppError, type FieldError } from "../lib/errors.ts";
import type { FolderLimit } from "../sandbox/measure-folder.ts";
import { type NpmFailure, runNpm } from "./run-npm.ts";
import { isVersionRange } from "./specifier.ts";

/** A package as an import names it; `range` is empty where the import gives no version. */
export interface PackageRequest {
  name: string;
  range: string;
  /** Where it is imported, as a refusal tells it: ` (app.mjs, line 1, column 19)`. */
  place?: () => string;
}

export interface PackageOptions {
  /** Prepared folders are kept below it, in `packages/`. */
  cacheDir: string;
  /** What the npm process sees, see `npmEnvironment`. */
  npmEnvironment?: NodeJS.ProcessEnv;
  /** What all packages of one component may take; `PACKAGES_LIMIT` where absent. */
  packagesLimit?: FolderLimit;
  /** Named when a package can't be had. */
  field: Pick<FieldError, "in" | "path">;
}

export interface InstalledPackages {
  /** Real path of the prepared folder. */
  folder: string;
  /** Name below `node_modules`: the package's own, or an alias where two versions are imported. */
  folderOf(request: PackageRequest): string;
  /** Pinned versions by the import's text (`axios`, `axios@0.20.0`). */
  versions: Record<string, string>;
}

const KEEP_UNUSED_MS = 7 * 24 * 3_600_000;
const DAY_MS = 24 * 3_600_000;
const EXACT = /^v?\d+\.\d+\.\d+([-+].*)?$/;

const textOf = ({ name, range }: PackageRequest): string => (range === "" ? name : `${name}@${range}`);

/** Folder names for all requests: the second of a name gets an alias, which npm installs side by side. */
function foldersOf(requests: PackageRequest[]): Map<string, string> {
  const taken = new Set<string>();
  const folders = requests.map((request): [string, string] => {
    const text = textOf(request);
    if (!taken.has(request.name)) {
      taken.add(request.name);
      return [text, request.name];
    }
    return [text, `headwater-${createHash("sha256").update(text).digest("hex").slice(0, 16)}`];
  });
  return new Map(folders);
}

/** Sets without an exact version are resolved again after a day; a saved component keeps what it got. */
function folderName(texts: string[], requests: PackageRequest[]): string {
  const pinned = requests.every(request => EXACT.test(request.range));
  const day = pinned ? "" : `\n${Math.floor(Date.now() / DAY_MS)}`;
  return createHash("sha256")
    .update(texts.join("\n") + day)
    .digest("hex");
}

const installing = new Map<string, Promise<void>>();

/**
 * Has npm put exactly these packages into a folder named after them, once (runtime.md, "Imports"). Names and
 * versions reach npm only as checked `npm:name@range` entries of a package.json, never as arguments; no script of
 * a package runs. Throws AppError invalid (unknown package or version, or one that leads outside the registry) or
 * unavailable (the registry can't be reached).
 */
export async function installPackages(
  wanted: PackageRequest[],
  options: PackageOptions,
): Promise<InstalledPackages> {
  const requests = [...new Map(wanted.map(request => [textOf(request), request])).values()];
  requests.sort((a, b) => (textOf(a) < textOf(b) ? -1 : 1));
  const folders = foldersOf(requests);
  const packages = join(options.cacheDir, "packages");
  const folder = join(packages, folderName([...folders.keys()], requests));
  if (!(await isThere(folder))) {
    const sharing = installing.get(folder) ?? prepare(folder, requests, folders, options);
    installing.set(folder, sharing);
    await sharing.finally(() => installing.delete(folder));
  }
  const now = new Date();
  await utimes(folder, now, now);
  const versions = await versionsOf(folder, folders);
  return {
    folder: await realpath(folder),
    folderOf: request => folders.get(textOf(request)) ?? "",
    versions,
  };
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

async function prepare(
  folder: string,
  requests: PackageRequest[],
  folders: Map<string, string>,
  options: PackageOptions,
): Promise<void> {
  const packages = join(options.cacheDir, "packages");
  const building = join(packages, `.building-${randomBytes(8).toString("hex")}`);
  await mkdir(building, { recursive: true });
  try {
    const dependencies = requests.map(request => {
      const range = request.range || "latest";
      if (!isVersionRange(range)) throw new Error(`unchecked version ${JSON.stringify(range)}`);
      return [folders.get(textOf(request)), `npm:${request.name}@${range}`];
    });
    const manifest = { private: true, dependencies: Object.fromEntries(dependencies) };
    await writeFile(join(building, "package.json"), JSON.stringify(manifest));
    const failure = await runNpm(building, options.npmEnvironment, options.packagesLimit);
    if (failure !== null) throw refusal(failure, requests, options);
    await refuseStrangers(building, options);
    await rename(building, folder).catch(async (error: NodeJS.ErrnoException) => {
      // Another process was quicker; its folder is as good.
      if (error.code !== "ENOTEMPTY" && error.code !== "EEXIST") throw error;
    });
  } finally {
    await rm(building, { recursive: true, force: true });
  }
  await dropUnused(packages);
}

/** npm leaves out the address of what came from the registry; a link or an address means it came from elsewhere. */
async function refuseStrangers(folder: string, options: PackageOptions): Promise<void> {
  const lock = JSON.parse(await readFile(join(folder, "node_modules", ".package-lock.json"), "utf8"));
  const installed = Object.entries<{ link?: boolean; resolved?: string }>(lock.packages ?? {});
  const stranger = installed.find(([, { link, resolved }]) => link === true || resolved !== undefined);
  if (stranger === undefined) return;
  const name = stranger[0].replace(/^.*node_modules\//, "");
  throw invalid(options, `the package ${name} does not come from the registry`);
}

async function versionsOf(folder: string, folders: Map<string, string>): Promise<Record<string, string>> {
  const entries = [...folders].map(async ([text, name]) => {
    const manifest = JSON.parse(await readFile(join(folder, "node_modules", name, "package.json"), "utf8"));
    return [text, String(manifest.version)];
  });
  return Object.fromEntries(await Promise.all(entries));
}

function invalid(options: PackageOptions, message: string): AppError {
  return new AppError("invalid", `${options.field.path}: ${message}`, {
    fields: [{ ...options.field, message }],
  });
}

const CAUSES: Record<string, string> = {
  E404: "there is no such package",
  ETARGET: "there is no such version",
  ENOVERSIONS: "there is no such version",
  ERESOLVE: "its dependencies exclude each other",
  EALLOWGIT: "it depends on code outside the registry",
  EALLOWREMOTE: "it depends on code outside the registry",
  EALLOWFILE: "it depends on code outside the registry",
  EALLOWDIRECTORY: "it depends on code outside the registry",
  EUNSUPPORTEDPROTOCOL: "it depends on code outside the registry",
  EBADPLATFORM: "it does not run on this platform",
  ETOOLARGE: "with all it depends on, it is too large",
};

/** More would make the message long, and their places slow to find. */
const IMPORTS_TOLD = 10;

/** npm's code decides; its text only tells which of the imports it speaks of. */
function refusal(failure: NpmFailure, requests: PackageRequest[], options: PackageOptions): AppError {
  const cause = CAUSES[failure.code];
  if (cause === undefined) {
    return new AppError("unavailable", "the npm registry could not be reached", {
      cause: new Error(`${failure.code} ${failure.text}`),
      retryAfterMs: 30_000,
    });
  }
  const meant = requests.filter(({ name }) => namesPackage(failure.text, name));
  const imports = (meant.length > 0 ? meant : requests)
    .slice(0, IMPORTS_TOLD)
    .map(request => JSON.stringify(textOf(request)) + (request.place?.() ?? ""));
  return invalid(options, `the import ${imports.join(", ")} can't be resolved: ${cause}`);
}

function namesPackage(text: string, name: string): boolean {
  const literal = name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`(^|[^\\w@./-])(npm:)?${literal}(@|[^\\w./-]|$)`).test(text);
}

/** What no save used for a week is left out of the cache; what a killed process left behind, too. */
async function dropUnused(packages: string): Promise<void> {
  for (const name of await readdir(packages)) {
    const path = join(packages, name);
    const used = await stat(path).catch(() => null);
    const keptMs = name.startsWith(".building-") ? DAY_MS : KEEP_UNUSED_MS;
    if (used !== null && Date.now() - used.mtimeMs > keptMs) await rm(path, { recursive: true, force: true });
  }
}
