import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { choosePort } from "../../script/lib/ports.mjs";
import { createUser } from "../../src/accounts/users.ts";
import { openPlatform, type Platform } from "../../src/platform.ts";
import { type CountingReceiver, startCountingReceiver } from "../faults/counting-receiver.ts";
import { Supervised } from "../soak/processes.ts";
import { Api } from "../support/api.ts";
import type { MongoSet } from "../support/mongo-set.ts";
import { testConfig } from "../support/platform.ts";
import type { RedisNode } from "../support/redis-nodes.ts";
import { environmentOf } from "../workers/worker-process.ts";

/** The Redis of a test, whether it is a cluster or has Sentinels. */
export interface RedisServers {
  url: string;
  /** With which replicas sign in to their master; empty without one. */
  password: string;
  /** All servers, replicas too. */
  servers: RedisNode[];
  sentinels: RedisNode[];
  masters(): Promise<RedisNode[]>;
  /** Waits until every master has its replicas and nothing is failing over. */
  whole(): Promise<void>;
  /** Moves slots that hold keys to other masters, in a cluster; returns how many. */
  reshard(): Promise<number>;
}

/** Two web processes and one or two of each worker on stores of several servers. */
export interface ClusterLab {
  redis: RedisServers;
  mongo: MongoSet;
  platform: Platform;
  receiver: CountingReceiver;
  env: Record<string, string>;
  /** The addresses of the web processes. */
  webs: string[];
  processes: Supervised[];
  /** When a Redis server was killed; Unix milliseconds. */
  kills: number[];
  /** Creates a user; returns a client of it at each web process. */
  user(name: string): Promise<{ apis: Api[]; userId: string }>;
  /** Has all processes run with these settings beside the usual ones: replaces them if theirs are others. */
  use(settings: Record<string, string>): Promise<void>;
  /** Has every server and process run again, whatever a fault that failed left behind. */
  heal(): Promise<void>;
  close(): Promise<void>;
}

export const METRICS_TOKEN = "a-token-of-the-test";
export const BOARD_PASSWORD = "a long password";

/** What a sweep must repair waits for the next one, so long at most. */
export const SWEEP_MS = 5000;

const WORKERS = ["runs", "emissions", "deliveries", "deletions"];

interface LabOptions {
  redis: RedisServers;
  mongo: MongoSet;
  /** Processes of each worker; 2 unless it is given. */
  workersOfEach?: 1 | 2;
}

/** Starts all processes; resolves when they are ready. */
export async function openClusterLab({ redis, mongo, workersOfEach = 2 }: LabOptions): Promise<ClusterLab> {
  const database = `lab${redis.sentinels.length}`;
  const config = testConfig({
    MONGODB_URL: mongo.urlOf(database),
    REDIS_URL: redis.url,
    TIMEOUTS: "stalled:2s,attempt:5s",
  });
  const logs = mkdtempSync(join(tmpdir(), "hw-cluster-logs-"));
  const [platform, receiver] = await Promise.all([openPlatform(config, "cli"), startCountingReceiver()]);
  const ports = [await choosePort(0), await choosePort(0)];
  const webs = ports.map(port => `http://127.0.0.1:${port}`);
  const env = {
    ...environmentOf(config),
    NODE_ENV: "test",
    PUBLIC_URL: webs[0] ?? "",
    ADMIN_PASSWORD: BOARD_PASSWORD,
    METRICS_TOKEN,
    SWEEP_EVERY: `${SWEEP_MS}ms`,
    // Counted for each request, and never reached: a test in main-job.ts shows that the count is shared.
    RATE_LIMITS: "api:10000",
    DELIVERY_RETRY_SCHEDULE: ["200ms", "500ms", ...Array(18).fill("1s")].join(","),
  };
  const processes: Supervised[] = [];
  const kills: number[] = [];
  let starts = 0;
  let used: Record<string, string> = {};
  const start = async (settings: Record<string, string>) => {
    starts += 1;
    used = settings;
    const given = { ...env, ...settings };
    const into = mkdtempSync(join(logs, `${starts}-`));
    processes.push(
      ...ports.map((port, i) => new Supervised(`web-${i + 1}`, { ...given, PORT: String(port) }, into)),
      ...WORKERS.flatMap(name =>
        [1, 2].slice(0, workersOfEach).map(i => new Supervised(`${name}-${i}`, given, into)),
      ),
    );
    for (const one of processes) one.start();
    for (const one of processes) await one.ready();
  };
  const stop = async (signal: "SIGKILL" | "SIGTERM") =>
    void (await Promise.all(processes.splice(0).map(one => one.end(signal))));
  const close = async () => {
    await stop("SIGKILL");
    await Promise.all([platform.close(), receiver.close()]);
    rmSync(logs, { recursive: true, force: true });
  };
  try {
    await start({});
  } catch (error) {
    await close();
    throw error;
  }
  return {
    ...{ redis, mongo, platform, receiver, env, webs, processes, kills, close },
    async user(name) {
      const { id, api_key } = await createUser(platform, { email: `${name}@cluster.test`, plan: "paid" });
      return { userId: id, apis: webs.map(web => new Api(`${web}/v1`, api_key)) };
    },
    async use(settings) {
      if (isDeepStrictEqual(settings, used)) return;
      await stop("SIGTERM");
      await start(settings);
    },
    async heal() {
      for (const server of [...redis.servers, ...redis.sentinels, ...mongo.members]) {
        if (server.isAlive()) server.thaw();
        else await server.start();
      }
      await Promise.all([redis.whole(), mongo.whole()]);
      for (const one of processes) one.start();
      for (const one of processes) await one.ready();
    },
  };
}
