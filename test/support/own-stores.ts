import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ensurePrimary, mongoKind } from "../../script/lib/mongo.mjs";
import { mongodProgram } from "../../script/lib/mongod.mjs";
import { isFree } from "../../script/lib/ports.mjs";
import { redisKind, redisProgram } from "../../script/lib/redis.mjs";
import { type StoreHandle, startOrAdopt } from "../../script/lib/store-server.mjs";
import { until } from "./until.ts";

const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");

/** A store server that a test may take away and give back; its address and its data stay. */
export interface OwnStore {
  url: string;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
  /** SIGTERM: it ends in order; resolves when it is gone. */
  stop(): Promise<void>;
  /** Starts it again on its port and its data; resolves when it takes writes. */
  start(): Promise<void>;
  /** Holds it still (SIGSTOP): its connections stay open and nothing answers from now on. */
  freeze(): void;
  thaw(): void;
}

export interface OwnStores {
  redis: OwnStore;
  mongo: OwnStore;
  close(): Promise<void>;
}

type Kind = Parameters<typeof startOrAdopt>[0];

/** On a busy machine a thread may still answer after the signal was sent; /proc tells when all have stopped. */
function waitStopped(pid: number): void {
  const tasks = `/proc/${pid}/task`;
  const isStopped = () =>
    readdirSync(tasks).every(task => /\) [Tt] /.test(readFileSync(join(tasks, task, "stat"), "utf8")));
  for (let look = 0; look < 200 && existsSync(tasks) && !isStopped(); look++) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
  }
}

type Open = (
  kindAt: (firstPort: number) => Kind,
  options: { url: (port: number) => string; settle?: (port: number) => Promise<void> },
) => Promise<OwnStore>;

/** Servers of this test alone, in a folder of their own. */
function ownServers(): { open: Open; close(): Promise<void> } {
  const folder = mkdtempSync(join(tmpdir(), `headwater-outage-${process.pid}-`));
  const handles: StoreHandle[] = [];
  const killAll = () => {
    for (const { pid, isAlive } of handles) if (isAlive()) process.kill(pid, "SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  };
  // Also when the run ends halfway: nobody else knows of these servers.
  process.once("exit", killAll);
  const hold = (started: StoreHandle) => handles.push(started);

  return {
    async open(kindAt, options) {
      let handle: StoreHandle | undefined;
      const current = () => {
        if (!handle?.isAlive()) throw new Error("the server is not running");
        return handle.pid;
      };
      const start = async () => {
        const kind = kindAt(handle?.port ?? 0);
        const port = handle?.port;
        handle = await startOrAdopt(kind, { folder, hold });
        if (port !== undefined && handle.port !== port) throw new Error(`port ${port} was taken meanwhile`);
        await options.settle?.(handle.port);
      };
      const end = async (signal: NodeJS.Signals) => {
        process.kill(current(), signal);
        // A process that ends has no command line any more while it still holds its port.
        await until(async () => !handle?.isAlive() && (await isFree(handle?.port ?? 0)), {
          timeoutMs: 20_000,
          what: "the server to be gone",
        });
      };
      await start();
      return {
        url: options.url(handle?.port ?? 0),
        start,
        kill: () => end("SIGKILL"),
        stop: () => end("SIGTERM"),
        freeze() {
          process.kill(current(), "SIGSTOP");
          waitStopped(current());
        },
        thaw: () => void process.kill(current(), "SIGCONT"),
      };
    },
    async close() {
      killAll();
      await until(() => !handles.some(handle => handle.isAlive()), { what: "the servers to be gone" });
      rmSync(folder, { recursive: true, force: true });
      process.off("exit", killAll);
    },
  };
}

const say = () => undefined;

async function redisOf(open: Open): Promise<OwnStore> {
  const program = await redisProgram({ root, say });
  return open(firstPort => redisKind({ program, firstPort }), { url: port => `redis://127.0.0.1:${port}` });
}

async function mongoOf(open: Open): Promise<OwnStore> {
  const program = await mongodProgram({ root, say });
  return open(firstPort => mongoKind({ program, firstPort, root }), {
    url: port => `mongodb://127.0.0.1:${port}/?replicaSet=rs0`,
    settle: port => ensurePrimary(port, root),
  });
}

/** A Redis (AOF, everysec, noeviction) and a MongoDB (one-node replica set) of this test alone. */
export async function openOwnStores(): Promise<OwnStores> {
  const { open, close } = ownServers();
  const [redis, mongo] = await Promise.all([redisOf(open), mongoOf(open)]);
  return { redis, mongo, close };
}

/** Such a Redis alone. */
export async function openOwnRedis(): Promise<OwnStore & { close(): Promise<void> }> {
  const { open, close } = ownServers();
  return { ...(await redisOf(open)), close };
}
