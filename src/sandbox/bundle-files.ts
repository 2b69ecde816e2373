import { createHash } from "node:crypto";
import { access, chmod, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { nanoid } from "nanoid";
import type { Bundle } from "./bundle.ts";

export interface BundleFiles {
  /** Path of the file that holds the bundle, until as many `forget`. */
  keep(bundle: Bundle): Promise<string>;
  forget(path: string): Promise<void>;
}

/** Bundles lie in files because deno maps stacks, and caches compiled code, by file; named by their own hash. */
export function openBundleFiles(folder: string): BundleFiles {
  const users = new Map<string, number>();
  const last = new Map<string, Promise<void>>();
  /** One after the other for each file, so that none is taken away from under who just found it there. */
  const inTurn = (path: string, work: () => Promise<void>): Promise<void> => {
    const turn = (last.get(path) ?? Promise.resolve()).catch(() => undefined).then(work);
    last.set(path, turn);
    const done = () => {
      if (last.get(path) === turn) last.delete(path);
    };
    turn.then(done, done);
    return turn;
  };
  return {
    async keep(bundle) {
      const text = withSourceMap(bundle);
      const path = join(folder, `${createHash("sha256").update(text).digest("hex").slice(0, 32)}.mjs`);
      users.set(path, (users.get(path) ?? 0) + 1);
      await inTurn(path, async () => {
        const isThere = await access(path).then(
          () => true,
          () => false,
        );
        if (isThere) return;
        // Under its name only when whole: another child may be reading it in the same moment.
        const draft = join(folder, `${nanoid()}.draft`);
        await writeFile(draft, text);
        // Each sandbox gets a link to it in its own room; the folder it lies in is closed to them.
        await chmod(draft, 0o644);
        await rename(draft, path);
      });
      return path;
    },
    async forget(path) {
      const left = (users.get(path) ?? 1) - 1;
      if (left > 0) users.set(path, left);
      else {
        users.delete(path);
        await inTurn(path, async () => {
          if (!users.has(path)) await rm(path, { force: true });
        });
      }
    },
  };
}

function withSourceMap({ code, sourceMap }: Bundle): string {
  if (sourceMap === undefined || code.includes("//# sourceMappingURL=data:")) return code;
  const encoded = Buffer.from(sourceMap).toString("base64");
  return `${code}\n//# sourceMappingURL=data:application/json;base64,${encoded}\n`;
}
