import { choosePort } from "../../script/lib/ports.mjs";
import { createUser } from "../../src/accounts/users.ts";
import { newId } from "../../src/lib/ids.ts";
import { Subscriptions } from "../../src/models/subscription.ts";
import { Workflows } from "../../src/models/workflow.ts";
import { openPlatform, type Platform } from "../../src/platform.ts";
import { createWebhook } from "../../src/webhooks/webhooks.ts";
import { headwater } from "../cli/command.ts";
import { Api } from "../support/api.ts";
import { type OwnStores, openOwnStores } from "../support/own-stores.ts";
import { testConfig } from "../support/platform.ts";
import { until } from "../support/until.ts";
import { environmentOf, spawnWorker, type WorkerProcess, whenReady } from "../workers/worker-process.ts";
import { type CountingReceiver, startCountingReceiver } from "./counting-receiver.ts";

/** Events sent under one fault; 20,000 with `npm run test:faults`. */
export const EVENTS = Number(process.env.FAULT_EVENTS ?? 400);
export const isFullSize = EVENTS >= 10_000;

/** The processes that an event passes through from a request to a webhook, in this order. */
export const PROCESSES = ["web", "runs", "emissions", "deliveries"] as const;
export type ProcessName = (typeof PROCESSES)[number];

const SOURCE = `export default { name: "Counted", version: "0.0.1", dedupe: "unique",
  props: { http: "$.interface.http" },
  run({ body }) { this.$emit(body, { id: body.key }); } };`;
/** Without memory, its runs are settled in Redis (docs/decisions/0022-runs-without-mongodb.md). */
const STATELESS = `export default { name: "Passed on", version: "0.0.1",
  props: { http: "$.interface.http" },
  run({ body }) { this.$emit(body); } };`;

/** Time limits: for a start on a busy machine, and for a stop, which takes at most 10 s (src/lib/shutdown.ts). */
const START_MS = 180_000;
const STOP_MS = 30_000;

/**
 * What emits events: two workflows on whose queue they are put, one of which reserves scores for them, one as which they
 * are published over HTTP, and two sources with endpoints.
 */
export interface Emitters {
  numbered: string;
  plain: string;
  published: string;
  source: string;
  stateless: string;
  endpoints: { source: string; stateless: string };
}

export const KINDS = ["numbered", "plain", "published", "source", "stateless"] as const;
export type Kind = (typeof KINDS)[number];

/** The paths of the webhooks that receive each emitter's events. */
export const WEBHOOKS: Record<Kind, string[]> = {
  numbered: ["/a", "/b"],
  plain: ["/a", "/b"],
  published: ["/a", "/b"],
  source: ["/a"],
  stateless: ["/b"],
};

export interface Lab {
  stores: OwnStores;
  /** A producer's platform: while a store is away its calls throw `unavailable` at once. */
  platform: Platform;
  receiver: CountingReceiver;
  emitters: Emitters;
  /** A client of the account that owns everything. */
  api: Api;
  env: Record<string, string>;
  start(...names: ProcessName[]): Promise<void>;
  /**
   * As `start`, with further settings, from the release in this folder, with its log in this new file, and without waiting
   * until the process is ready.
   */
  spawn(name: ProcessName, env?: Record<string, string>, folder?: string, logFile?: string): WorkerProcess;
  /** What these processes log from now on has no reader. */
  leaveLogs(...names: ProcessName[]): void;
  ready(...names: ProcessName[]): Promise<void>;
  /** `kill -9`. */
  kill(...names: ProcessName[]): Promise<void>;
  /** Creates a workflow whose events go to a webhook at each of these paths; returns its id. */
  addEmitter(paths: string[]): Promise<string>;
  /** SIGTERM; returns the exit code. */
  stop(name: ProcessName): Promise<unknown>;
  /** Does `work`, which breaks something, and waits until every process has logged this message since. */
  untilAllSay(message: string, work: () => Promise<unknown>): Promise<void>;
  close(): Promise<void>;
}

/**
 * Starts all processes and stores for this test alone, with an emitter of each kind and two webhooks. With a `folder`, the processes
 * are those of the release in it, and its web process sets the stores up; `env` has further settings, and `folderEnv` what that
 * release needs instead, which knows others.
 */
export async function openLab({
  folder,
  env: further = {},
  folderEnv = {},
}: {
  folder?: string;
  env?: Record<string, string>;
  folderEnv?: Record<string, string>;
} = {}): Promise<Lab> {
  const [stores, receiver] = await Promise.all([openOwnStores(), startCountingReceiver()]);
  const mongodb = new URL(stores.mongo.url);
  mongodb.pathname = "/faults";
  const config = testConfig({
    MONGODB_URL: mongodb.href,
    REDIS_URL: stores.redis.url,
    TIMEOUTS: "stalled:1s,attempt:2s",
  });
  const port = await choosePort(0);
  const env = {
    ...environmentOf(config),
    NODE_ENV: "test",
    PORT: String(port),
    METRICS_TOKEN: "t".repeat(16),
    SWEEP_EVERY: "1s",
    DELIVERY_RETRY_SCHEDULE: Array(20).fill("200ms").join(","),
    FREE_LIMITS: `daily_invocations=${1e9},daily_compute_ms=${1e12}`,
    RATE_LIMITS: "api:10000",
    ...further,
  };
  const running = new Map<ProcessName, WorkerProcess>();
  if (folder) {
    const first = spawnWorker("web", { ...env, ...folderEnv }, { folder });
    await whenReady(first, START_MS);
    // As an operator does, while a process of the older release runs; then this release can look at the database.
    const { code, stderr } = await headwater(["migrate"], env);
    if (code !== 0) throw new Error(`headwater migrate ended with ${code}: ${stderr}`);
    first.kill("SIGTERM");
    await first.ended;
  }
  const platform = await openPlatform(config, "cli");

  const lab = {
    stores,
    platform,
    receiver,
    env,
    spawn(name: ProcessName, more: Record<string, string> = {}, from = folder, logFile?: string) {
      const log = logFile === undefined ? {} : { logFile };
      const ofRelease = from === folder ? folderEnv : {};
      const child = spawnWorker(name, { ...env, ...ofRelease, ...more }, { folder: from, ...log });
      running.set(name, child);
      return child;
    },
    leaveLogs(...names: ProcessName[]) {
      for (const name of names) running.get(name)?.leaveOutput();
    },
    async ready(...names: ProcessName[]) {
      for (const name of names) {
        const child = running.get(name);
        if (!child) throw new Error(`${name} was not started`);
        await whenReady(child, START_MS);
      }
    },
    async start(...names: ProcessName[]) {
      for (const name of names) lab.spawn(name);
      await lab.ready(...names);
    },
    async kill(...names: ProcessName[]) {
      const children = names.map(name => running.get(name));
      for (const child of children) child?.kill("SIGKILL");
      for (const child of children) await child?.ended;
    },
    async stop(name: ProcessName) {
      const child = running.get(name);
      child?.kill("SIGTERM");
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise(resolve => {
        timer = setTimeout(() => resolve(`${name} is still running`), STOP_MS);
      });
      return await Promise.race([child?.ended, late]).finally(() => clearTimeout(timer));
    },
    async untilAllSay(message: string, work: () => Promise<unknown>) {
      const times = () => [...running.values()].map(child => child.output().split(message).length);
      const before = times();
      await work();
      await until(() => times().every((count, i) => count > (before[i] ?? 0)), {
        what: `"${message}" of each process`,
      });
    },
    async close() {
      await lab.kill(...running.keys());
      await platform.close();
      await receiver.close();
      await stores.close();
    },
  };
  await lab.start(...PROCESSES);
  const { id: userId, api_key } = await createUser(platform, { email: "faults@example.test" });
  const api = new Api(`http://127.0.0.1:${port}/v1`, api_key);
  const source = await api.createSource({ component_code: SOURCE });
  const stateless = await api.createSource({ component_code: STATELESS });
  const numbered = newId("p");
  const plain = newId("p");
  const owner = { platform, receiver, userId };
  for (const _id of [numbered, plain]) await addWorkflow(owner, _id);
  const published = (await api.request("POST", "/workflows", { body: { name: "published" } })).body.data.id;
  const emitters = { numbered, plain, published, source: source.id, stateless: stateless.id };
  for (const path of ["/a", "/b"]) {
    const kinds = KINDS.filter(kind => WEBHOOKS[kind].includes(path));
    await addWebhook(
      owner,
      kinds.map(kind => emitters[kind]),
      path,
    );
  }
  const endpointOf = (one: typeof source) => one.configured_props.http?.endpoint_url ?? "";
  const endpoints = { source: endpointOf(source), stateless: endpointOf(stateless) };
  return {
    ...lab,
    api,
    emitters: { ...emitters, endpoints },
    async addEmitter(paths) {
      const id = newId("p");
      await addWorkflow(owner, id);
      for (const path of paths) await addWebhook(owner, [id], path);
      return id;
    },
  };
}

interface Owner {
  platform: Platform;
  receiver: CountingReceiver;
  userId: string;
}

async function addWorkflow({ platform, userId }: Owner, _id: string): Promise<void> {
  await Workflows(platform.mongo).insertOne({ _id, owner_id: userId, name: "emitter", created_at: 0 });
}

/** Creates a webhook with this path that receives the events of these emitters. */
async function addWebhook(
  { platform, receiver, userId }: Owner,
  emitterIds: string[],
  path: string,
): Promise<void> {
  const { id } = await createWebhook(platform, { ownerId: userId, userId, url: receiver.urlOf(path) });
  await Subscriptions(platform.mongo).insertMany(
    emitterIds.map(emitter_id => ({
      _id: newId("sub"),
      owner_id: userId,
      user_id: userId,
      emitter_id,
      listener_id: id,
      event_name: "",
      filter: null,
      created_at: 0,
    })),
  );
}
