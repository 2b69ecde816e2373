import { randomBytes } from "node:crypto";
import type { Stats } from "node:fs";
import { link, lstat, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join, posix } from "node:path";
import { AppError } from "../lib/errors.ts";
import { folderBytes } from "../lib/folders.ts";

/** What a set takes on disk. */
interface SetSize {
  /** Besides `packages`. */
  bytes: number;
  /** Those that it may have in common with other sets. */
  packages: PackageCopy[];
}

/** A set of installed packages. */
interface PackageSet extends SetSize {
  path: string;
  usedAtMs: number;
}

const DAY_MS = 24 * 3_600_000;
const KEEP_UNUSED_MS = 7 * DAY_MS;
/** Of the whole size, this part may be npm's own cache. */
const NPM_SHARE = 0.25;
const RETRY_MS = 30_000;
/** Contains a set's size: a `SetSize`, or a number of bytes. Not a file of a package, which are all in `node_modules`. */
const SIZE_FILE = ".bytes";
const BUILDING = ".building-";
const REMOVED = ".removed-";

/**
 * The folders below `CACHE_DIR` into which npm installs packages. All of them together are bounded in bytes
 * (docs/limits.md); the set that was not used for the longest time is removed first, and any after a week. Sets have the
 * files of equal packages in common.
 */
export class PackageCache {
  /** Where the sets are. */
  readonly folder: string;
  readonly npmFolder: string;
  readonly #maxBytes: number;
  /** How many builds of this process use a set, by its path. */
  readonly #users = new Map<string, number>();
  /** Sets are published one after the other, so that each finds the packages of those before it. */
  #publishing: Promise<void> = Promise.resolve();

  constructor(cacheDir: string, maxBytes: number) {
    this.folder = join(cacheDir, "packages");
    this.npmFolder = join(cacheDir, "npm");
    this.#maxBytes = maxBytes;
  }

  /** Returns the path of a folder that does not exist yet, for an installation under way. */
  newBuilding(): string {
    return join(this.folder, BUILDING + randomBytes(8).toString("hex"));
  }

  /** Runs `use` while no other build of this process removes the set; another process may. */
  async using<T>(path: string, use: () => Promise<T>): Promise<T> {
    this.#users.set(path, (this.#users.get(path) ?? 0) + 1);
    try {
      return await use();
    } finally {
      const users = (this.#users.get(path) ?? 1) - 1;
      if (users > 0) this.#users.set(path, users);
      else this.#users.delete(path);
    }
  }

  /** Notes that a set is used now. */
  async touch(path: string): Promise<void> {
    const now = new Date();
    await utimes(path, now, now);
  }

  /**
   * Makes a set of what was installed: its files that other sets have too become links to those, and its size is written down.
   * If another process has installed the same set in between, that one stays.
   */
  publish(building: string, path: string): Promise<void> {
    const published = this.#publishing.then(() => this.#publish(building, path));
    this.#publishing = published.catch(() => undefined);
    return published;
  }

  async #publish(building: string, path: string): Promise<void> {
    const folders = new Map<string, string>();
    for (const set of await this.#sets()) {
      for (const { integrity, root } of set.packages) folders.set(integrity, join(set.path, root));
    }
    const packages = await sharePackages(building, integrity => folders.get(integrity));
    const bytes = (await folderBytes(building)) - packages.reduce((sum, one) => sum + one.bytes, 0);
    await writeFile(join(building, SIZE_FILE), JSON.stringify({ bytes, packages } satisfies SetSize));
    await rename(building, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOTEMPTY" && error.code !== "EEXIST") throw error;
    });
  }

  /**
   * Removes sets until `bytes` more fit. Throws AppError `unavailable` if those in use don't leave that much. Also
   * removes what killed processes left behind.
   */
  async makeRoom(bytes: number): Promise<void> {
    const npmBytes = await this.#trimNpmCache();
    const sets = await this.#sets();
    let total = bytesOf(sets) + npmBytes;
    const now = Date.now();
    const left = new Set(sets);
    for (const set of sets.sort((a, b) => a.usedAtMs - b.usedAtMs)) {
      const isOld = now - set.usedAtMs > KEEP_UNUSED_MS;
      if (!isOld && total + bytes <= this.#maxBytes) break;
      if (this.#users.has(set.path)) continue;
      await this.#remove(set.path);
      left.delete(set);
      total = bytesOf(left) + npmBytes;
    }
    if (total + bytes <= this.#maxBytes) return;
    throw new AppError("unavailable", "there is no room for more npm packages at the moment", {
      retryAfterMs: RETRY_MS,
    });
  }

  async #trimNpmCache(): Promise<number> {
    const bytes = await folderBytes(this.npmFolder);
    if (bytes <= this.#maxBytes * NPM_SHARE) return bytes;
    await this.#remove(this.npmFolder);
    return 0;
  }

  async #sets(): Promise<PackageSet[]> {
    const sets: PackageSet[] = [];
    for (const name of await readdir(this.folder).catch(() => [])) {
      const path = join(this.folder, name);
      const found = await stat(path).catch(() => null);
      if (found === null) continue;
      if (!name.startsWith(".")) sets.push({ path, usedAtMs: found.mtimeMs, ...(await sizeOf(path)) });
      else if (Date.now() - found.mtimeMs > DAY_MS) await rm(path, { recursive: true, force: true });
    }
    return sets;
  }

  /** Renames the folder first, so that a set is either whole or absent. */
  async #remove(path: string): Promise<void> {
    const removed = join(this.folder, REMOVED + randomBytes(8).toString("hex"));
    await rename(path, removed).catch(() => undefined);
    await rm(removed, { recursive: true, force: true });
  }
}

/** Returns what sets take together, packages that they have in common counted once. */
function bytesOf(sets: Iterable<SetSize>): number {
  const packages = new Map<number, number>();
  let total = 0;
  for (const set of sets) {
    total += set.bytes;
    for (const { inode, bytes } of set.packages) packages.set(inode, bytes);
  }
  return [...packages.values()].reduce((sum, bytes) => sum + bytes, total);
}

async function sizeOf(path: string): Promise<SetSize> {
  try {
    const noted: unknown = JSON.parse(await readFile(join(path, SIZE_FILE), "utf8"));
    return typeof noted === "number" ? { bytes: noted, packages: [] } : (noted as SetSize);
  } catch {
    return { bytes: await folderBytes(path), packages: [] };
  }
}

/** A package of a set, as it is on disk. */
interface PackageCopy {
  /** npm's hash of what was published. It says where to look for equal files, which are then compared. */
  integrity: string;
  /** Its folder, in the folder of the set. */
  root: string;
  bytes: number;
  /** Inode of its package.json, which is linked last: those with the same one have all their files in common. */
  inode: number;
}

const MANIFEST = "package.json";
/** Follows the name of a file while a link replaces it. */
const LINK = ".headwater-link";
/** Files that are compared at the same time. */
const AT_ONCE = 16;

/**
 * Replaces the files of a set's packages by links to those of equal packages in other sets, so that each version is on disk
 * once. The file system counts the links: a set may be removed at any time, also while it is linked to, and files are only
 * ever replaced by their equals. Returns what packages the set has.
 *
 * @param equals returns the folder of an equal package, if one is known
 */
async function sharePackages(
  set: string,
  equals: (integrity: string) => string | undefined,
): Promise<PackageCopy[]> {
  const lock = JSON.parse(await readFile(join(set, "node_modules", ".package-lock.json"), "utf8"));
  const installed = Object.entries<{ integrity?: string; inBundle?: boolean }>(lock.packages ?? {});
  const copies: PackageCopy[] = [];
  for (const [root, { integrity, inBundle }] of installed) {
    // What a package brought with itself has no hash of its own.
    if (integrity === undefined || inBundle) continue;
    copies.push({ integrity, root, ...(await sharePackage(set, root, equals(integrity))) });
  }
  return copies;
}

async function sharePackage(
  set: string,
  root: string,
  equal: string | undefined,
): Promise<Pick<PackageCopy, "bytes" | "inode">> {
  const manifest = join(root, MANIFEST);
  const files = (await filesOfPackage(set, root)).filter(path => path !== manifest);
  let bytes = 0;
  let isShared = equal !== undefined;
  const share = async (path: string) => {
    const target = join(set, path);
    const found = await lstat(target);
    bytes += found.blocks * 512;
    if (equal !== undefined && isShared)
      isShared = (await linkEqual(join(equal, path.slice(root.length)), target, found)) && isShared;
  };
  for (let at = 0; at < files.length; at += AT_ONCE)
    await Promise.all(files.slice(at, at + AT_ONCE).map(share));
  await share(manifest);
  return { bytes, inode: (await lstat(join(set, manifest))).ino };
}

/** Replaces a file by a link to another one of the same content. Returns false if it has none, or there can be no link. */
async function linkEqual(source: string, target: string, found: Stats): Promise<boolean> {
  try {
    const other = await lstat(source);
    if (!other.isFile() || other.size !== found.size || other.mode !== found.mode) return false;
    const [one, two] = await Promise.all([readFile(source), readFile(target)]);
    if (!one.equals(two)) return false;
    await link(source, target + LINK);
    await rename(target + LINK, target);
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns the paths of a package's own files, in the folder of the packages: without those of the packages inside of it, and
 * without links.
 *
 * @param root the package's folder, in the folder of the packages
 */
export async function filesOfPackage(folder: string, root: string): Promise<string[]> {
  const entries = await readdir(join(folder, root), { withFileTypes: true });
  const found = entries.map(async entry => {
    const inside = posix.join(root, entry.name);
    if (entry.isDirectory()) return entry.name === "node_modules" ? [] : filesOfPackage(folder, inside);
    return entry.isFile() ? [inside] : [];
  });
  return (await Promise.all(found)).flat();
}
