import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ensurePrimary, mongoKind } from "../../script/lib/mongo.mjs";
import { mongodProgram } from "../../script/lib/mongod.mjs";
import { isFree } from "../../script/lib/ports.mjs";
import { redisKind, redisProgram } from "../../script/lib/redis.mjs";
import { type StoreHandle, startOrAdopt, untilFree } from "../../script/lib/store-server.mjs";
import { until } from "./until.ts";

const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");

/** A store server that a test may stop and start again; its address and its data stay the same. */
export interface OwnStore {
  url: string;
  port: number;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
  /** SIGTERM: it ends in an orderly way; resolves when it is gone. */
  stop(): Promise<void>;
  isAlive(): boolean;
  /** Starts it again with the same port and data; resolves when it accepts writes. */
  start(): Promise<void>;
  /** Suspends it (SIGSTOP): its connections stay open, and it no longer responds. */
  freeze(): void;
  thaw(): void;
}

export interface OwnStores {
  redis: OwnStore;
  mongo: OwnStore;
  close(): Promise<void>;
}

type Kind = Parameters<typeof startOrAdopt>[0];

/** Waits until all threads have stopped, because on a busy machine a thread may still respond after the signal. */
function waitStopped(pid: number): void {
  const tasks = `/proc/${pid}/task`;
  const isStopped = () =>
    readdirSync(tasks).every(task => /\) [Tt] /.test(readFileSync(join(tasks, task, "stat"), "utf8")));
  for (let look = 0; look < 200 && existsSync(tasks) && !isStopped(); look++) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
  }
}

export type OpenServer = (
  kindAt: (firstPort: number) => Kind,
  options: { url: (port: number) => string; settle?: (port: number) => Promise<void> },
) => Promise<OwnStore>;

/**
 * Starts servers for one test, with their data in a temporary folder, which is created in `parent`. Several servers of one
 * kind need names of their own, or folders.
 */
export function ownServers(parent = tmpdir()): { open: OpenServer; close(): Promise<void> } {
  const folder = mkdtempSync(join(parent, `headwater-outage-${process.pid}-`));
  const handles: StoreHandle[] = [];
  const killAll = () => {
    for (const { pid, isAlive } of handles) if (isAlive()) process.kill(pid, "SIGKILL");
  };
  // One that is being killed, and a process that it has forked, may still write.
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  const onExit = () => {
    killAll();
    remove();
  };
  // Also if the run ends early: no other process knows these servers.
  process.once("exit", onExit);
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
        if (port !== undefined && !handle?.isAlive()) await untilFree(port);
        handle = await startOrAdopt(kind, { folder, hold });
        if (port !== undefined && handle.port !== port) throw new Error(`port ${port} was taken in between`);
        await options.settle?.(handle.port);
      };
      const end = async (signal: NodeJS.Signals) => {
        process.kill(current(), signal);
        // A process that is ending has no command line any more, but may still listen on its port.
        await until(async () => !handle?.isAlive() && (await isFree(handle?.port ?? 0)), {
          what: "the server to be gone",
        });
      };
      await start();
      return {
        url: options.url(handle?.port ?? 0),
        port: handle?.port ?? 0,
        start,
        isAlive: () => handle?.isAlive() === true,
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
      remove();
      process.off("exit", onExit);
    },
  };
}

const say = () => undefined;

async function redisOf(open: OpenServer): Promise<OwnStore> {
  const program = await redisProgram({ root, say });
  return open(firstPort => redisKind({ program, firstPort }), { url: port => `redis://127.0.0.1:${port}` });
}

async function mongoOf(open: OpenServer): Promise<OwnStore> {
  const program = await mongodProgram({ root, say });
  return open(firstPort => mongoKind({ program, firstPort, root }), {
    url: port => `mongodb://127.0.0.1:${port}/?replicaSet=rs0`,
    settle: port => ensurePrimary(port, root),
  });
}

/**
 * Starts a Redis (AOF, everysec, noeviction) and a MongoDB (a replica set of one node) for one test. Their data is below
 * `redisIn` and `mongoIn`, two folders that exist; by default the system's for temporary files.
 */
export async function openOwnStores(given: { redisIn?: string; mongoIn?: string } = {}): Promise<OwnStores> {
  const [forRedis, forMongo] = [ownServers(given.redisIn), ownServers(given.mongoIn)];
  const [redis, mongo] = await Promise.all([redisOf(forRedis.open), mongoOf(forMongo.open)]);
  const close = async () => void (await Promise.all([forRedis.close(), forMongo.close()]));
  return { redis, mongo, close };
}

/** Starts only the Redis. */
export async function openOwnRedis(): Promise<OwnStore & { close(): Promise<void> }> {
  const { open, close } = ownServers();
  return { ...(await redisOf(open)), close };
}
