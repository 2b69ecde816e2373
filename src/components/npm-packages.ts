import { createHash } from "node:crypto";
import { mkdir, readFile, realpath, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { RateLimiterMemory, type RateLimiterRes } from "rate-limiter-flexible";
import { LOCAL_ACCOUNT, Slots } from "../fairness/slots.ts";
import { AppError, type FieldError, invalidField } from "../lib/errors.ts";
import type { FolderLimit } from "../lib/folders.ts";
import { LIMITS } from "../limits/catalogue.ts";
import { PackageCache } from "./package-cache.ts";
import { NPM_TIMEOUT, type NpmFailure, PACKAGES_LIMIT, runNpm } from "./run-npm.ts";
import { isVersionRange } from "./specifier.ts";

/** An imported package; `range` is empty if the import has no version. */
export interface PackageRequest {
  name: string;
  range: string;
  /** Returns where it is imported, as text for an error: ` (app.mjs, line 1, column 19)`. */
  location?: () => string;
}

export interface PackageOptions {
  /** Folders with installed packages are cached in `packages/` below this folder. */
  cacheDir: string;
  /** npm receives the variables of it that `npmEnvironment` keeps. */
  npmEnvironment?: NodeJS.ProcessEnv;
  /** An `.npmrc` of the operator; none by default. */
  npmrc?: string | undefined;
  /** Hosts that npm may reach besides its registries. */
  npmHosts?: readonly string[];
  /** Limit for all packages of one component; `PACKAGES_LIMIT` by default. */
  packagesLimit?: FolderLimit;
  /** How long one npm may take; 120 s by default. */
  npmTimeoutMs?: number;
  /** Limit in bytes for everything below `packages/` and `npm/`; `LIMITS.packageCacheBytes` by default. */
  packageCacheBytes?: number;
  /** The account on whose behalf npm runs; accounts are served in turn. */
  account?: string;
  /** Called before each installation; throws if there can be none. By default it counts them for the account. */
  mayInstall?: () => Promise<void>;
  /** The field that errors name. */
  field: Pick<FieldError, "in" | "path">;
}

export interface InstalledPackages {
  /** Real path of the folder in which the packages are installed. */
  folder: string;
  /** Returns the folder's name in `node_modules`: the package's name, or an alias for its further versions. */
  folderOf(request: PackageRequest): string;
  /** Pinned versions by the text of the import (`axios`, `axios@0.20.0`). */
  versions: Record<string, string>;
}

const DAY_MS = 24 * 3_600_000;
const EXACT = /^v?\d+\.\d+\.\d+([-+].*)?$/;

const textOf = ({ name, range }: PackageRequest): string => (range === "" ? name : `${name}@${range}`);

/**
 * Returns folder names by the text of the import. A second version of a package gets an alias, so that npm installs
 * both.
 */
function foldersOf(requests: PackageRequest[]): Map<string, string> {
  const usedNames = new Set<string>();
  const folders = requests.map((request): [string, string] => {
    const text = textOf(request);
    if (!usedNames.has(request.name)) {
      usedNames.add(request.name);
      return [text, request.name];
    }
    return [text, `headwater-${createHash("sha256").update(text).digest("hex").slice(0, 16)}`];
  });
  return new Map(folders);
}

/**
 * Returns the name of the folder for a set of packages. Unless all versions are exact, the set is resolved again each
 * day; a saved component keeps the versions it was saved with.
 */
function folderName(texts: string[], requests: PackageRequest[]): string {
  const pinned = requests.every(request => EXACT.test(request.range));
  const day = pinned ? "" : `\n${Math.floor(Date.now() / DAY_MS)}`;
  return createHash("sha256")
    .update(texts.join("\n") + day)
    .digest("hex");
}

/** Sets in use at once, installed before or not: they are what the cache can't remove. */
const slots = new Slots({
  total: LIMITS.packageSets.value,
  perAccount: LIMITS.packageSetsPerAccount.value,
  what: "npm packages are being installed",
});
const installations = new RateLimiterMemory({ points: LIMITS.installationsPerHour.value, duration: 3600 });

/** Why a set can't be installed: npm's failure, or the name of a package that does not come from the registry. */
type Rejection = NpmFailure | { foreign: string };

const caches = new Map<string, PackageCache>();

function cacheOf({
  cacheDir,
  packageCacheBytes = LIMITS.packageCacheBytes.value,
}: PackageOptions): PackageCache {
  const cache = caches.get(cacheDir) ?? new PackageCache(cacheDir, packageCacheBytes);
  caches.set(cacheDir, cache);
  return cache;
}

/** The result of each installation under way, by folder; each build that waits for it names its own imports. */
const installing = new Map<string, Promise<Rejection | null>>();

/**
 * Runs `use` with exactly these packages, which npm installs in a folder that is named after them, unless it exists
 * already (docs/component-api.md#imports). npm receives names and versions only as checked `npm:name@range` entries of a
 * package.json, never as arguments, and runs no script of a package. Throws AppError `invalid` for an unknown package
 * or version or one from outside the registry, `rate-limited` if the account had too many sets installed in the last
 * hour, and `unavailable` if the registry can't be reached or there is no room.
 */
export function withPackages<T>(
  imported: PackageRequest[],
  options: PackageOptions,
  use: (installed: InstalledPackages) => Promise<T>,
): Promise<T> {
  const requests = [...new Map(imported.map(request => [textOf(request), request])).values()];
  requests.sort((a, b) => (textOf(a) < textOf(b) ? -1 : 1));
  const folders = foldersOf(requests);
  const cache = cacheOf(options);
  const folder = join(cache.folder, folderName([...folders.keys()], requests));
  let wasInstalled = false;
  const attempt = () =>
    cache.using(folder, async () => {
      await ensureInstalled(cache, folder, requests, folders, options);
      wasInstalled = true;
      return use({
        folder: await realpath(folder),
        folderOf: request => folders.get(textOf(request)) ?? "",
        versions: await versionsOf(folder, folders),
      });
    });
  return slots.run(options.account ?? LOCAL_ACCOUNT, async () => {
    try {
      return await attempt();
    } catch (error) {
      if (!wasInstalled || (await exists(folder))) throw error;
    }
    // Another process has removed the set to make room.
    return attempt();
  });
}

async function ensureInstalled(
  cache: PackageCache,
  folder: string,
  requests: PackageRequest[],
  folders: Map<string, string>,
  options: PackageOptions,
): Promise<void> {
  if (await exists(folder)) return cache.touch(folder);
  let installation = installing.get(folder);
  if (installation === undefined) {
    const { mayInstall = () => countInstallation(options.account ?? LOCAL_ACCOUNT) } = options;
    installation = mayInstall().then(() => install(cache, folder, requests, folders, options));
    installing.set(folder, installation);
    const done = () => installing.delete(folder);
    installation.then(done, done);
  }
  const rejection = await installation;
  if (rejection !== null) throw toAppError(rejection, requests, options);
}

/** Counts an installation for an account. Throws `rate-limited` if it had too many in the last hour. */
export async function countInstallation(account: string): Promise<void> {
  if (account === LOCAL_ACCOUNT) return;
  await installations.consume(account).catch(({ msBeforeNext }: RateLimiterRes) => {
    throw new AppError("rate-limited", "too many sets of npm packages were installed for this account", {
      retryAfterMs: msBeforeNext,
    });
  });
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

async function install(
  cache: PackageCache,
  folder: string,
  requests: PackageRequest[],
  folders: Map<string, string>,
  options: PackageOptions,
): Promise<Rejection | null> {
  const building = cache.newBuilding();
  const limit = options.packagesLimit ?? PACKAGES_LIMIT;
  await cache.makeRoom(limit.maxBytes * installing.size);
  await mkdir(building, { recursive: true });
  try {
    const dependencies = requests.map(request => {
      const range = request.range || "latest";
      if (!isVersionRange(range)) throw new Error(`unchecked version ${JSON.stringify(range)}`);
      return [folders.get(textOf(request)), `npm:${request.name}@${range}`];
    });
    const manifest = { private: true, dependencies: Object.fromEntries(dependencies) };
    await writeFile(join(building, "package.json"), JSON.stringify(manifest));
    const failure = await runNpm(building, {
      environment: options.npmEnvironment,
      npmrc: options.npmrc,
      hosts: options.npmHosts,
      cacheFolder: cache.npmFolder,
      limit,
      timeoutMs: options.npmTimeoutMs,
    });
    if (failure !== null) return failure;
    const foreign = await foreignPackage(building);
    if (foreign !== undefined) return { foreign };
    await cache.publish(building, folder);
    return null;
  } finally {
    await rm(building, { recursive: true, force: true });
  }
}

/** npm writes no address for a package from the registry. A link or an address means that it came from elsewhere. */
async function foreignPackage(folder: string): Promise<string | undefined> {
  const lock = JSON.parse(await readFile(join(folder, "node_modules", ".package-lock.json"), "utf8"));
  const installed = Object.entries<{ link?: boolean; resolved?: string }>(lock.packages ?? {});
  const foreign = installed.find(([, { link, resolved }]) => link === true || resolved !== undefined);
  return foreign?.[0].replace(/^.*node_modules\//, "");
}

async function versionsOf(folder: string, folders: Map<string, string>): Promise<Record<string, string>> {
  const entries = [...folders].map(async ([text, name]) => {
    const manifest = JSON.parse(await readFile(join(folder, "node_modules", name, "package.json"), "utf8"));
    return [text, String(manifest.version)];
  });
  return Object.fromEntries(await Promise.all(entries));
}

function invalid({ field }: PackageOptions, message: string): AppError {
  return invalidField(field.in, field.path, message);
}

const CAUSES: Record<string, string> = {
  E404: "the package does not exist",
  ETARGET: "the version does not exist",
  ENOVERSIONS: "the version does not exist",
  ERESOLVE: "its dependencies conflict",
  EALLOWGIT: "it depends on code outside the registry",
  ENOGIT: "it depends on code outside the registry",
  EALLOWREMOTE: "it depends on code outside the registry",
  EALLOWFILE: "it depends on code outside the registry",
  EALLOWDIRECTORY: "it depends on code outside the registry",
  EUNSUPPORTEDPROTOCOL: "it depends on code outside the registry",
  EBADPLATFORM: "it does not support this platform",
  ETOOLARGE: "it is too large, including its dependencies",
};

/** More would make the message long, and finding their locations slow. */
const MAX_NAMED_IMPORTS = 10;

/** Translates npm's error code. npm's text is only used to find out which imports it is about. */
function toAppError(failure: Rejection, requests: PackageRequest[], options: PackageOptions): AppError {
  if ("foreign" in failure) {
    return invalid(options, `the package ${failure.foreign} does not come from the registry`);
  }
  const cause = CAUSES[failure.code];
  if (cause === undefined) {
    const message =
      failure.code === NPM_TIMEOUT
        ? "installing the npm packages took too long; the same request may succeed, because what was fetched is kept"
        : "the npm registry could not be reached";
    return new AppError("unavailable", message, {
      cause: new Error(`${failure.code} ${failure.text}`),
      retryAfterMs: 30_000,
    });
  }
  const dependency = missingDependency(failure.text, requests);
  const named = requests.filter(({ name }) => namesPackage(failure.text, name));
  const imports = (named.length > 0 ? named : requests)
    .slice(0, MAX_NAMED_IMPORTS)
    .map(request => JSON.stringify(textOf(request)) + (request.location?.() ?? ""));
  return invalid(options, `the import ${imports.join(", ")} can't be resolved: ${dependency}${cause}`);
}

/** npm's words for what it did not find, in the registry or among the versions of a package. */
const NOT_FOUND =
  /No matching version found for ((?:@[^@\s]+)?[^\s']+?)\.?(?:\s|$)|'([^\s']+)' is not in this registry/;

/** Returns `its dependency x@^9: ` if what is missing is not imported by the component itself, and an empty string otherwise. */
function missingDependency(text: string, requests: PackageRequest[]): string {
  const [, version, name] = NOT_FOUND.exec(text) ?? [];
  const missing = (version ?? name)?.replace(/^.*npm:/, "");
  if (missing === undefined || requests.some(request => missing.replace(/(?<=.)@.*$/, "") === request.name))
    return "";
  return `its dependency ${missing.slice(0, 300)}: `;
}

function namesPackage(text: string, name: string): boolean {
  const literal = name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`(^|[^\\w@./-])(npm:)?${literal}(@|[^\\w./-]|$)`).test(text);
}
