import { readFileSync } from "node:fs";
import { choosePort } from "../../script/lib/ports.mjs";
import { createUser } from "../../src/accounts/users.ts";
import { openPlatform, type Platform } from "../../src/platform.ts";
import { Api } from "../support/api.ts";
import { type NpmRegistry, startNpmRegistry } from "../support/npm-registry.ts";
import { type OwnStores, openOwnStores } from "../support/own-stores.ts";
import { testConfig } from "../support/platform.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";
import { environmentOf, spawnWorker, type WorkerProcess } from "../workers/worker-process.ts";
import { type Machine, startMachine } from "./machine.ts";

const PROCESSES = ["web", "runs", "emissions", "deliveries", "deletions"] as const;
const START_MS = 180_000;

/** Packages for components that are saved during a flood. */
const PACKAGES = Array.from({ length: 10 }, (_, i) => ({
  manifest: { name: `package-${i}`, version: "1.0.0", main: "index.js" },
  files: { "index.js": `module.exports = ${JSON.stringify("x".repeat(50_000))};` },
}));

const QUIET = `export default { name: "Quiet", version: "0.0.1", props: { http: "$.interface.http" },
  run({ body }) { this.$emit(body); } };`;

/** An account, with a client of the API for it. */
export interface Account {
  id: string;
  api: Api;
}

/** An installation with two accounts: A makes noise, B sends one event after another. */
export interface Town {
  platform: Platform;
  baseUrl: string;
  machine: Machine;
  a: Account;
  b: Account;
  /** B's source, and the endpoint that receives its events. */
  endpointUrl: string;
  receiver: Receiver;
  /** The resident memory of the largest process, and the memory of Redis' data, in MB. */
  memory(): Promise<{ process: number; name: string; redis: number }>;
  close(): Promise<void>;
}

/** Starts stores, all processes with default settings, and both accounts. */
export async function openTown(): Promise<Town> {
  const stores: OwnStores = await openOwnStores();
  const registry: NpmRegistry = await startNpmRegistry(PACKAGES);
  const mongodb = new URL(stores.mongo.url);
  mongodb.pathname = "/neighbours";
  const config = testConfig({
    MONGODB_URL: mongodb.href,
    REDIS_URL: stores.redis.url,
    TIMEOUTS: "stalled:10s",
  });
  const platform = await openPlatform(config, "cli");
  const port = await choosePort(0);
  const env = {
    ...(registry.environment as Record<string, string>),
    ...environmentOf(config),
    CACHE_DIR: registry.cacheDir,
    PORT: String(port),
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    LOG_LEVEL: "warn",
  };
  const children = new Map<string, WorkerProcess>();
  for (const name of PROCESSES) children.set(name, spawnWorker(name, { ...env, LOG_LEVEL: "info" }));
  for (const [name, child] of children) {
    await until(() => child.output().includes('"msg":"ready"'), {
      timeoutMs: START_MS,
      what: `${name} ready`,
    });
  }
  const baseUrl = `http://127.0.0.1:${port}`;
  const account = async (name: string): Promise<Account> => {
    const { id, api_key } = await createUser(platform, { email: `${name}@example.test`, plan: "paid" });
    return { id, api: new Api(`${baseUrl}/v1`, api_key) };
  };
  const [a, b] = [await account("a"), await account("b")];
  const receiver = await startReceiver();
  const source = await b.api.createSource({ component_code: QUIET });
  const webhook = await b.api.createWebhook(receiver.url);
  await b.api.subscribe(source.id, webhook.id);
  const machine = startMachine();
  return {
    ...{ platform, baseUrl, machine, a, b, receiver },
    endpointUrl: source.configured_props.http?.endpoint_url ?? "",
    async memory() {
      const sizes = [...children].map(([name, { pid }]) => ({ name, process: residentMb(pid) }));
      const largest = sizes.reduce((one, other) => (other.process > one.process ? other : one));
      const info = await platform.redis.info("memory");
      return { ...largest, redis: Number(/used_memory:(\d+)/.exec(String(info))?.[1]) / 1024 / 1024 };
    },
    async close() {
      machine.close();
      for (const child of children.values()) child.kill("SIGKILL");
      await Promise.all([...children.values()].map(({ ended }) => ended));
      await receiver.close();
      await registry.close();
      await platform.close();
      await stores.close();
    },
  };
}

function residentMb(pid: number | undefined): number {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
  } catch {
    return 0;
  }
}
