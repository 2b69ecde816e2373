import { stat } from "node:fs/promises";
import { join } from "node:path";
import { LRUCache } from "lru-cache";
import { LIMITS } from "../limits/catalogue.ts";
import { PackageFolder } from "./resolve-package.ts";

/** Memory of a file besides its text: its path, and what is known of the paths that were tried before it. */
const FILE_BYTES = 1024;
/** Somebody who develops a component saves it again within minutes; afterwards the memory is worth more. */
const KEPT_MS = 600_000;

/** A set of installed packages, and what earlier builds read of it: a set never changes once it is installed. */
export class KnownPackages {
  readonly folder: PackageFolder;
  readonly #texts = new Map<string, string>();
  #bytes = FILE_BYTES;

  constructor(path: string) {
    this.folder = new PackageFolder(path);
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Returns the normal form of a file, which `normalize` makes of its text if no earlier build has. */
  async normalText(path: string, normalize: (text: string) => Promise<string>): Promise<string> {
    const known = this.#texts.get(path);
    if (known !== undefined) return known;
    const text = await normalize(await this.folder.read(path));
    this.#texts.set(path, text);
    this.#bytes += 2 * path.length + text.length + FILE_BYTES;
    return text;
  }
}

const sets = new LRUCache<string, KnownPackages>({
  maxSize: LIMITS.packageTextBytes.value,
  sizeCalculation: ({ bytes }) => bytes,
  ttl: KEPT_MS,
  ttlAutopurge: true,
});

/**
 * Runs `use` with what is known of the packages in a folder (a real path), and keeps what it learns for the next build, unless
 * it fails: then it may have met a set that was just being removed.
 */
export async function withKnownPackages<T>(
  path: string,
  use: (known: KnownPackages) => Promise<T>,
): Promise<T> {
  // A set that was removed may be installed again with other versions.
  const { ino, mtimeMs } = await stat(join(path, "package.json"));
  const id = `${path} ${ino} ${mtimeMs}`;
  const known = sets.get(id) ?? new KnownPackages(path);
  try {
    const result = await use(known);
    sets.set(id, known);
    return result;
  } catch (error) {
    sets.delete(id);
    throw error;
  }
}
