import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { choosePort } from "../../script/lib/ports.mjs";
import { createUser } from "../../src/accounts/users.ts";
import { AcceptedWork } from "../../src/models/accepted.ts";
import { openPlatform, type Platform } from "../../src/platform.ts";
import { type Arrival, type CountingReceiver, startCountingReceiver } from "../faults/counting-receiver.ts";
import { LOOK_EVERY_MS, openWork } from "../faults/open-work.ts";
import { Supervised } from "../soak/processes.ts";
import { Api } from "../support/api.ts";
import { testConfig } from "../support/platform.ts";
import { until } from "../support/until.ts";
import { environmentOf } from "../workers/worker-process.ts";

const SOURCE = `export default { name: "Counted", version: "0.0.1",
  props: { http: "$.interface.http" }, run({ body }) { this.$emit(body); } };`;
const PATH = "/counted";
/** Of five events, one is an HTTP request to a source; the others are published. */
const EVERY = 5;
const IN_FLIGHT = 16;
const PATIENCE_MS = 10_000;
/** Longer than far more than an installation with little work takes for all of it. */
const DRAIN_MS = 90_000;

/** What became of the events of one load. */
export interface Outcome {
  accepted: number;
  /** Responses with 503. */
  unavailable: number;
  /** Other responses, and none. */
  failed: number;
  /** Accepted, and never at the receiver. */
  lost: number;
  /** Events that arrived under more than one id. */
  doubled: number;
}

/** A web process and a process of all workers, and a sender of events. */
export interface LossLab {
  platform: Platform;
  worker: Supervised;
  accepted(): number;
  unavailable(): number;
  /** Sends one event to the source, or as the workflow; throws if there is no response. */
  post(to: "source" | "workflow", key: string, headers?: Record<string, string>): Promise<Response>;
  /** Arrivals by the event's key. */
  arrivals(): ReadonlyMap<string, Arrival>;
  /** Sends events, as fast as they are accepted, until `stop`. */
  start(): void;
  stop(): Promise<void>;
  /** Waits until all work is done, and counts. */
  count(): Promise<Outcome>;
  close(): Promise<void>;
}

/** Starts the processes with these settings; resolves when they are ready. */
export async function openLossLab(settings: Record<string, string>): Promise<LossLab> {
  const config = testConfig({ TIMEOUTS: "stalled:1s", ...settings });
  const logs = mkdtempSync(join(tmpdir(), "hw-loss-logs-"));
  const [platform, receiver] = await Promise.all([openPlatform(config, "runs"), startCountingReceiver()]);
  const port = await choosePort(0);
  const web = `http://127.0.0.1:${port}`;
  const env = {
    ...environmentOf(config),
    NODE_ENV: "test",
    PORT: String(port),
    PUBLIC_URL: web,
    SWEEP_EVERY: "1s",
    RATE_LIMITS: "api:100000",
    DELIVERY_RETRY_SCHEDULE: Array(20).fill("300ms").join(","),
    ...settings,
  };
  const worker = new Supervised("all-1", env, logs);
  const processes = [new Supervised("web-1", env, logs), worker];
  const close = async () => {
    if (worker.pid !== undefined) process.kill(worker.pid, "SIGCONT");
    await Promise.all(processes.map(one => one.end("SIGKILL")));
    await platform.mongo.dropDatabase();
    await Promise.all([platform.close(), receiver.close()]);
    rmSync(logs, { recursive: true, force: true });
  };
  try {
    for (const one of processes) one.start();
    for (const one of processes) await one.ready();
    const { api_key } = await createUser(platform, { email: "loss@example.test", plan: "paid" });
    const api = new Api(`${web}/v1`, api_key);
    const load = await openLoad(api, receiver, platform);
    return { platform, worker, ...load, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function openLoad(api: Api, receiver: CountingReceiver, platform: Platform) {
  const source = await api.createSource({ component_code: SOURCE });
  const workflow = await api.expect(201, "POST", "/workflows", { body: { name: "loss" } });
  const webhook = await api.createWebhook(receiver.urlOf(PATH));
  for (const id of [source.id, workflow.id]) await api.subscribe(id, webhook.id);
  const endpoint = source.configured_props.http?.endpoint_url ?? "";
  const accepted = new Set<string>();
  let [sent, unavailable, failed] = [0, 0, 0];
  let isStopped = false;
  let senders: Promise<unknown> = Promise.resolve();

  const post: LossLab["post"] = (to, key, headers = {}) =>
    fetch(to === "source" ? endpoint : `${api.baseUrl}/workflows/${workflow.id}/events`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${api.apiKey}`, ...headers },
      body: JSON.stringify(to === "source" ? { key } : { event: { key } }),
      signal: AbortSignal.timeout(PATIENCE_MS),
    });

  async function send(n: number): Promise<void> {
    const key = String(n);
    try {
      const response = await post(n % EVERY === 0 ? "source" : "workflow", key);
      await response.arrayBuffer();
      if (response.ok) accepted.add(key);
      else if (response.status === 503) unavailable += 1;
      else failed += 1;
    } catch {
      failed += 1;
    }
  }

  return {
    post,
    arrivals: () => receiver.at(PATH),
    accepted: () => accepted.size,
    unavailable: () => unavailable,
    start() {
      isStopped = false;
      const sender = async () => {
        while (!isStopped) await send(++sent);
      };
      senders = Promise.all(Array.from({ length: IN_FLIGHT }, sender));
    },
    async stop() {
      isStopped = true;
      await senders;
    },
    async count(): Promise<Outcome> {
      const isDone = async () => {
        const open = await openWork(platform, [source.id]);
        const rows = await AcceptedWork(platform.mongo).countDocuments();
        if (Object.keys(open).length > 0 || rows > 0) throw new Error(JSON.stringify({ ...open, rows }));
        return true;
      };
      await until(isDone, { timeoutMs: DRAIN_MS, everyMs: LOOK_EVERY_MS, what: "all work to be done" });
      const arrivals = receiver.at(PATH);
      const all = [...arrivals.values()];
      return {
        ...{ accepted: accepted.size, unavailable, failed },
        lost: [...accepted].filter(key => !arrivals.has(key)).length,
        doubled: all.filter(({ webhookIds, eventIds }) => webhookIds.size > 1 || eventIds.size > 1).length,
      };
    },
  };
}
