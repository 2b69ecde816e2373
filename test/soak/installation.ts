import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { choosePort } from "../../script/lib/ports.mjs";
import { openPlatform, type Platform } from "../../src/platform.ts";
import { root } from "../support/built.ts";
import { type OwnStores, openOwnStores } from "../support/own-stores.ts";
import { testConfig } from "../support/platform.ts";
import { environmentOf } from "../workers/worker-process.ts";
import { Supervised } from "./processes.ts";
import { mountSmallDisk, type SmallDisk } from "./small-disk.ts";

/** Sizes in megabytes: enough for what each holds in half an hour. */
const DISK_MB = { redis: 512, mongo: 1536, sandboxes: 128 } as const;
export type DiskName = keyof typeof DISK_MB;
/** The ids of one soak's sandboxes: 64 blocks of a thousand, away from those of other tests on this machine. */
const FIRST_USER_ID = 400_000 + (process.pid % 20_000) * 64_000;
/** The process whose folder for temporary files is the small disk, and the ones whose clock can be moved. */
const SANDBOX_HOST = /^(runs|all)-1$/;
const RETRIES = ["200ms", "500ms", ...Array(10).fill("1s")].join(",");

/** A whole installation of real processes with stores of its own. */
export interface Installation {
  stores: OwnStores;
  /** A producer's platform, in this process: what a workflow engine and the command line use. */
  platform: Platform;
  /** The addresses of the web processes. */
  webs: string[];
  processes: Supervised[];
  disks: Partial<Record<DiskName, SmallDisk>>;
  /** Everything is below this folder, so that what it leaves behind can be found. */
  folder: string;
  logs: string;
  firstUserId: number;
  /** Moves the machine's clock as one process sees it; 0 sets it right. */
  moveClock(name: string, byMs: number): void;
  close(options: { keepLogs: boolean }): Promise<void>;
}

/** Starts stores and processes; `names` are such as `web-1` and `runs-2`. Resolves when all are ready. */
export async function openInstallation(names: string[], say: (line: string) => void): Promise<Installation> {
  const folder = mkdtempSync(join(tmpdir(), "hw-soak-"));
  chmodSync(folder, 0o711);
  const inFolder = (name: string): string => {
    const path = join(folder, name);
    mkdirSync(path, { recursive: true });
    // Sandboxes, which have user ids of their own, must get through.
    chmodSync(path, 0o777);
    return path;
  };
  const logs = inFolder("logs");
  const disks: Installation["disks"] = {};
  for (const [name, megabytes] of Object.entries(DISK_MB) as [DiskName, number][]) {
    const disk = mountSmallDisk(inFolder(name), megabytes);
    if (disk) disks[name] = disk;
    else say(`skipped: the disk of ${name} can't be filled, because this process may not mount a tmpfs`);
  }
  const stores = await openOwnStores({ redisIn: inFolder("redis"), mongoIn: inFolder("mongo") });
  const mongodb = new URL(stores.mongo.url);
  mongodb.pathname = "/soak";
  process.env.TEST_MONGODB_URL ??= stores.mongo.url;
  process.env.TEST_REDIS_URL ??= stores.redis.url;
  const config = testConfig({
    MONGODB_URL: mongodb.href,
    REDIS_URL: stores.redis.url,
    REDIS_PREFIX: "soak",
    TIMEOUTS: "stalled:5s,attempt:10s",
  });
  const platform = await openPlatform(config, "cli");
  const ports = new Map<string, number>();
  for (const name of names) if (name.startsWith("web")) ports.set(name, await choosePort(0));
  const webs = [...ports.values()].map(port => `http://127.0.0.1:${port}`);
  const clockFile = (name: string) => join(folder, `${name}.clock`);
  const environment = (name: string): Record<string, string> => ({
    ...environmentOf(config),
    NODE_ENV: "test",
    PORT: String(ports.get(name) ?? 0),
    PUBLIC_URL: webs[0] ?? "",
    SWEEP_EVERY: "3s",
    DELIVERY_RETRY_SCHEDULE: RETRIES,
    SANDBOX_FIRST_UID: String(FIRST_USER_ID),
    TMPDIR: SANDBOX_HOST.test(name) ? inFolder("sandboxes") : inFolder(name),
    NODE_OPTIONS: `--import=file://${join(root, "test/soak/clock-shift.mjs")}`,
    SOAK_CLOCK_FILE: clockFile(name),
  });
  const processes = names.map(name => new Supervised(name, environment(name), logs));
  for (const one of processes) one.start();
  for (const one of processes) await one.ready();
  return {
    ...{ stores, platform, webs, processes, disks, folder, logs },
    firstUserId: FIRST_USER_ID,
    moveClock: (name, byMs) => writeFileSync(clockFile(name), String(byMs)),
    async close({ keepLogs }) {
      for (const one of processes) one.thaw();
      await Promise.all(processes.map(one => one.end("SIGKILL")));
      await platform.close();
      await stores.close();
      for (const disk of Object.values(disks)) disk.close();
      if (!keepLogs) rmSync(folder, { recursive: true, force: true });
    },
  };
}
