import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A file system of a few megabytes in memory, which can be filled. */
export interface SmallDisk {
  path: string;
  /** Leaves no byte free. Call it again to take what was freed since. */
  fill(): void;
  free(): void;
  /** Unmounts it; nothing may use it any more. */
  close(): void;
}

const mount = (...args: string[]): boolean => spawnSync("mount", args, { stdio: "ignore" }).status === 0;

/** Mounts one at this folder, which is created; returns undefined if this process may not mount anything. */
export function mountSmallDisk(path: string, megabytes: number): SmallDisk | undefined {
  mkdirSync(path, { recursive: true });
  // Sandboxes have user ids of their own.
  if (!mount("-t", "tmpfs", "-o", `size=${megabytes}m,mode=1777`, "tmpfs", path)) return undefined;
  const fillers: string[] = [];
  return {
    path,
    fill() {
      const { bavail, bsize } = statfsSync(path);
      const bytes = bavail * bsize;
      if (bytes === 0) return;
      const filler = join(path, `filler-${fillers.length}`);
      fillers.push(filler);
      const { status } = spawnSync("fallocate", ["-l", String(bytes), filler], { stdio: "ignore" });
      if (status !== 0) fillSlowly(filler);
    },
    free() {
      for (const filler of fillers.splice(0)) rmSync(filler, { force: true });
    },
    close: () => void spawnSync("umount", ["-l", path], { stdio: "ignore" }),
  };
}

function fillSlowly(filler: string): void {
  const zeros = Buffer.alloc(64 * 1024);
  try {
    for (;;) writeFileSync(filler, zeros, { flag: "a" });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
  }
}
