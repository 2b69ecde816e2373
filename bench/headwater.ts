import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { pino } from "pino";
import { choosePort } from "../script/lib/ports.mjs";
import { readProcfile } from "../script/lib/procfile.mjs";
import { type Config, readConfig } from "../src/config.ts";
import { deliveries } from "../src/queues/deliveries.ts";
import { emissions } from "../src/queues/emissions.ts";
import { KeptShards } from "../src/queues/open-queues.ts";
import { runs } from "../src/queues/runs.ts";
import { findRedis } from "../src/store/connections/find-redis.ts";
import { openWorkerRedis, whenReady } from "../src/store/connections/redis.ts";
import { redisKeys } from "../src/store/keys.ts";
import { growQueueShards } from "../src/store/queue-shards.ts";
import { Api } from "../test/support/api.ts";
import { type Child, startChild } from "./child.ts";
import type { Watched } from "./meter.ts";
import { type Stores, whenIdle } from "./stores.ts";

/** Headwater as in production: the built files, a process for each line of a Procfile, default settings. */
export interface Headwater {
  /** A client of an account on a paid plan, so that no quota ends the measurement. */
  api: Api;
  redisPrefix: string;
  watched: Watched[];
  /** All settings, as its processes read them. */
  config: Config;
  whenIdle(): Promise<void>;
  stop(): Promise<void>;
}

export interface HeadwaterOptions {
  root: string;
  stores: Stores;
  /** Settings from the command line. */
  settings: Record<string, string>;
  /** Process to be profiled, and the `.cpuprofile` it writes when it ends. */
  profile?: { name: string; file: string };
  logFile: string;
  nodePath?: string | undefined;
  /** Runs what `npm start` runs: the web process and one for all queues. */
  small?: boolean | undefined;
}

const processesOf = (small = false) =>
  readProcfile(fileURLToPath(new URL(small ? "../Procfile.small" : "../Procfile", import.meta.url)));

/** The names of the processes of an installation of this form. */
export const processNames = (small: boolean): string[] => processesOf(small).map(({ name }) => name);

const DEADLINE_MS = 5000;

export async function startHeadwater(options: HeadwaterOptions): Promise<Headwater> {
  const port = await choosePort(0);
  // The receiver is on this machine; the API's rate limit would only slow down the preparations.
  const env = {
    ...{ EGRESS_ALLOW: "127.0.0.0/8", RATE_LIMITS: "api:0", REDIS_PREFIX: "headwater" },
    ...options.settings,
    MONGODB_URL: options.stores.mongodbUrl,
    REDIS_URL: options.stores.redisUrl,
    PORT: String(port),
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    SECRETS_KEY: randomBytes(32).toString("base64"),
  };
  const config = readConfig(env);
  const queues = await openQueues(config);
  const children = new Map<string, Child>();
  const stop = async () => {
    await queues.close();
    await Promise.all([...children.values()].map(child => child.stop()));
  };
  try {
    for (const { name, args } of processesOf(options.small)) {
      const script = args.at(-1) ?? "";
      const profile = name === options.profile?.name ? profiling(options.profile) : [];
      const nodeOptions = [...args.slice(0, -1), ...profile];
      const { logFile, nodePath } = options;
      const childOptions = { env, nodeOptions, logFile, nodePath };
      children.set(name, await startChild(join(options.root, script), childOptions));
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    api: new Api(`${env.PUBLIC_URL}/v1`, createAccount(options.root, env)),
    redisPrefix: config.redisPrefix,
    watched: [
      ...[...children].map(([name, { pid }]) => ({ name, group: "ours" as const, pid })),
      {
        name: "sandboxes",
        group: "ours",
        pid: children.get(options.small ? "workers" : "runs")?.pid ?? 0,
        children: true,
      },
    ],
    config,
    whenIdle: queues.whenIdle,
    stop,
  };
}

/** Opens the queues that a load goes through; shards of the settings are used from the first job on. */
async function openQueues({ redis: settings, redisPrefix: prefix, queueShards }: Config) {
  const redis = openWorkerRedis(await findRedis(settings, DEADLINE_MS));
  try {
    await whenReady(redis, DEADLINE_MS);
    const keys = redisKeys(prefix);
    // Where a process raises the numbers, producers use them 15 s later.
    await growQueueShards({ redis, keys }, new Map(Object.entries(queueShards)), 0);
    const log = pino({ level: "warn" });
    const options = { redis, keys, prefix, wanted: {}, log, deadlineMs: DEADLINE_MS };
    const kept = await KeptShards.open([runs, emissions, deliveries], options);
    return {
      whenIdle: () => whenIdle([...kept.queues.values()]),
      async close() {
        await kept.close();
        redis.disconnect();
      },
    };
  } catch (error) {
    redis.disconnect();
    throw error;
  }
}

function profiling({ file }: { file: string }): string[] {
  return ["--cpu-prof", `--cpu-prof-dir=${dirname(file)}`, `--cpu-prof-name=${basename(file)}`];
}

function createAccount(root: string, env: Record<string, string>): string {
  const args = ["user", "create", "--email", "bench@example.test", "--plan", "paid"];
  const output = execFileSync(process.execPath, [join(root, "bin/headwater"), ...args], {
    env: { PATH: process.env.PATH, ...env },
    encoding: "utf8",
  });
  return (JSON.parse(output) as { api_key: string }).api_key;
}
