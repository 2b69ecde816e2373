import { createHash } from "node:crypto";
import { access, chmod, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { nanoid } from "nanoid";
import { LIMITS } from "../limits/catalogue.ts";

/** One self-contained ESM module whose default export is the component. */
export type Bundle = BundleText | BundleFile;

/** A bundle that is in memory as a whole. */
export interface BundleText {
  code: string;
  hash: string;
}

/** A bundle that is somewhere else: it may have 50 MB, and a process that is warm needs none of it. */
export interface BundleFile {
  /** SHA-256 (hex) of its text. */
  hash: string;
  /** Length of its text, if it is known: for the message if loading it takes too much memory. */
  bytes?: number;
  /**
   * Makes a file of its text at a path that is free. It may throw AppError, which the caller of the sandbox gets as it is.
   */
  writeTo(path: string): Promise<void>;
}

/**
 * The files that contain bundles. Bundles are kept in files because deno maps stacks and caches compiled code by file, and so
 * that no process of the platform holds them in memory. A file is named after the hash of its content, so that the processes of
 * equal bundles share it. Those that no process uses stay for the next one, up to so many bytes.
 */
export class BundleFiles {
  readonly #folder: string;
  readonly #unusedBytes: number;
  /** How many users each file has, by its path. */
  readonly #users = new Map<string, number>();
  /** The bytes of the files without a user, by path; the first one has been unused for the longest time. */
  readonly #unused = new Map<string, number>();
  /** The last change of each file that is under way, by its path. */
  readonly #changes = new Map<string, Promise<void>>();

  constructor(folder: string, unusedBytes: number = LIMITS.bundleCacheBytes.value) {
    this.#folder = folder;
    this.#unusedBytes = unusedBytes;
  }

  /**
   * Returns the path of the file that contains the bundle. It exists until `release` is called as often as this. Throws
   * what the bundle's `writeTo` throws.
   */
  async acquire(bundle: Bundle): Promise<string> {
    const path = join(this.#folder, `${nameOf(bundle)}.mjs`);
    this.#users.set(path, (this.#users.get(path) ?? 0) + 1);
    this.#unused.delete(path);
    try {
      await this.#serialize(path, async () => {
        if (!(await exists(path))) await this.#write(path, bundle);
      });
    } catch (error) {
      await this.release(path);
      throw error;
    }
    return path;
  }

  async release(path: string): Promise<void> {
    const users = (this.#users.get(path) ?? 1) - 1;
    if (users > 0) {
      this.#users.set(path, users);
      return;
    }
    this.#users.delete(path);
    const found = await stat(path).catch(() => undefined);
    if (found !== undefined && !this.#users.has(path)) this.#unused.set(path, found.size);
    await this.#trim();
  }

  async #trim(): Promise<void> {
    let bytes = [...this.#unused.values()].reduce((sum, size) => sum + size, 0);
    for (const [path, size] of this.#unused) {
      if (bytes <= this.#unusedBytes) return;
      this.#unused.delete(path);
      bytes -= size;
      await this.#serialize(path, async () => {
        if (!this.#users.has(path)) await rm(path, { force: true });
      });
    }
  }

  /** Makes changes of one file one after the other, so that no file is removed right after `acquire` has found it. */
  #serialize(path: string, change: () => Promise<void>): Promise<void> {
    const running = (this.#changes.get(path) ?? Promise.resolve()).catch(() => undefined).then(change);
    this.#changes.set(path, running);
    const done = () => {
      if (this.#changes.get(path) === running) this.#changes.delete(path);
    };
    running.then(done, done);
    return running;
  }

  async #write(path: string, bundle: Bundle): Promise<void> {
    // Renamed only when it is complete, because another child may read the file at the same moment.
    const draft = join(this.#folder, `${nanoid()}.draft`);
    try {
      if ("code" in bundle) await writeFile(draft, bundle.code);
      else await bundle.writeTo(draft);
      // Each sandbox reads it through a link in its own workspace; this folder is closed to sandboxes.
      await chmod(draft, 0o644);
      await rename(draft, path);
    } catch (error) {
      await rm(draft, { force: true });
      throw error;
    }
  }
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

const nameOf = (bundle: Bundle): string =>
  ("code" in bundle ? createHash("sha256").update(bundle.code).digest("hex") : bundle.hash).slice(0, 32);
