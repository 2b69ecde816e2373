import { constants } from "node:fs";
import { access, copyFile, mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { AppError } from "../../lib/errors.ts";

/** Files that are written beside their place, and come to it when all are there: a folder has all of them, or none. */
export class Staging {
  /** Where they are until then. */
  readonly folder: string;
  readonly #target: string;
  readonly #paths: string[] = [];

  private constructor(target: string, folder: string) {
    this.#target = target;
    this.folder = folder;
  }

  /** Begins in a folder, which is made. Throws AppError `invalid` if that can't be. */
  static async open(target: string): Promise<Staging> {
    try {
      await mkdir(target, { recursive: true });
      return new Staging(target, await mkdtemp(join(target, ".headwater-import-")));
    } catch (error) {
      throw new AppError("invalid", `${target} can't be written to: ${(error as Error).message}`, {
        cause: error,
      });
    }
  }

  /** Writes a file, by its path below the folder; a name of another server must not be in it as it came. */
  async write(path: string, text: string): Promise<void> {
    const at = join(this.folder, path);
    await mkdir(dirname(at), { recursive: true });
    await writeFile(at, text);
    if (!this.#paths.includes(path)) this.#paths.push(path);
  }

  /** Deletes what was written at a path. */
  async remove(path: string): Promise<void> {
    await rm(join(this.folder, path), { recursive: true, force: true });
    const isKept = (one: string) => one !== path && !one.startsWith(`${path}/`);
    this.#paths.splice(0, Infinity, ...this.#paths.filter(isKept));
  }

  /**
   * Brings all files to their places. Throws AppError `conflict`, and changes nothing, if one is there already. With `force` these are
   * replaced, and an error says which were before it.
   */
  async finish({ force }: { force: boolean }): Promise<readonly string[]> {
    if (!force) await checkAbsent(this.#target, this.#paths);
    const done: string[] = [];
    try {
      for (const path of this.#paths) {
        const place = join(this.#target, path);
        await mkdir(dirname(place), { recursive: true });
        if (force) await rename(join(this.folder, path), place);
        else await copyFile(join(this.folder, path), place, constants.COPYFILE_EXCL);
        done.push(path);
      }
    } catch (error) {
      if (!force) await Promise.all(done.map(path => rm(join(this.#target, path), { force: true })));
      const [first = "", ...others] = force ? done : [];
      const count = others.length === 0 ? "" : ` and ${others.length} more`;
      const written = first === "" ? "nothing was" : `only ${first}${count} was`;
      throw new AppError("invalid", `${written} written: ${(error as Error).message}`, { cause: error });
    }
    return this.#paths;
  }

  /** Deletes what is not at its place. */
  async close(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** Throws AppError `conflict` that names files which are there already. */
export async function checkAbsent(folder: string, paths: readonly string[]): Promise<void> {
  const there: string[] = [];
  for (const path of paths) {
    const isThere = await access(join(folder, path)).then(
      () => true,
      () => false,
    );
    if (isThere) there.push(path);
  }
  if (there.length === 0) return;
  const more = there.length > 3 ? ` and ${there.length - 3} more` : "";
  throw new AppError(
    "conflict",
    `${join(folder, there.slice(0, 3).join(", "))}${more}: exists already; --force replaces such files`,
  );
}
