import { createHash } from "node:crypto";
import { access, chmod, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { nanoid } from "nanoid";
import type { Bundle } from "./bundle.ts";

/**
 * The files that contain bundles. Bundles are kept in files because deno maps stacks and caches compiled code by file.
 * A file is named after the hash of its content, so that the processes of equal bundles share it.
 */
export class BundleFiles {
  readonly #folder: string;
  /** How many users each file has, by its path. */
  readonly #users = new Map<string, number>();
  /** The last change of each file that is under way, by its path. */
  readonly #changes = new Map<string, Promise<void>>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Returns the path of the file that contains the bundle. It exists until `release` is called as often as this. */
  async acquire(bundle: Bundle): Promise<string> {
    const text = withSourceMap(bundle);
    const path = join(this.#folder, `${createHash("sha256").update(text).digest("hex").slice(0, 32)}.mjs`);
    this.#users.set(path, (this.#users.get(path) ?? 0) + 1);
    try {
      await this.#serialize(path, async () => {
        if (!(await exists(path))) await this.#write(path, text);
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
    await this.#serialize(path, async () => {
      if (!this.#users.has(path)) await rm(path, { force: true });
    });
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

  async #write(path: string, text: string): Promise<void> {
    // Renamed only when it is complete, because another child may read the file at the same moment.
    const draft = join(this.#folder, `${nanoid()}.draft`);
    try {
      await writeFile(draft, text);
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

function withSourceMap({ code, sourceMap }: Bundle): string {
  if (sourceMap === undefined || code.includes("//# sourceMappingURL=data:")) return code;
  const encoded = Buffer.from(sourceMap).toString("base64");
  return `${code}\n//# sourceMappingURL=data:application/json;base64,${encoded}\n`;
}
