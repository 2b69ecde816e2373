import type { Stats } from "node:fs";
import { link, lstat, readdir, readFile, rename } from "node:fs/promises";
import { join, posix } from "node:path";

/** A package of a set, as it is on disk. */
export interface PackageCopy {
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
export async function sharePackages(
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
