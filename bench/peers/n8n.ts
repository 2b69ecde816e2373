import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Queue } from "bullmq";
import { lastLine, run } from "../../script/lib/commands.mjs";
import { choosePort } from "../../script/lib/ports.mjs";
import { type Program, startScript } from "../child.ts";
import { whenIdle } from "../stores.ts";
import { type Peer, type PeerOptions, type RunningPeer, withField } from "./peer.ts";
import { type Postgres, preparePostgres, startPostgres } from "./postgres.ts";
import { untilItTakesEvents, withChildren } from "./running.ts";

/**
 * n8n in queue mode, as its documents advise for load: a main process that takes requests, a worker that runs the workflow, a
 * PostgreSQL that keeps each execution, and a queue in Redis. All settings that matter for speed are the defaults.
 */
export const n8n: Peer = {
  packageName: "n8n",
  version: "2.40.7",
  title: "n8n, queue mode",
  size: "2,300 packages of 3 GB: takes minutes",
  prepare: preparePostgres,
  async start(options) {
    const postgres = await startPostgres(options.logFile);
    const userFolder = mkdtempSync(join(tmpdir(), "headwater-n8n-"));
    const programs: Program[] = [];
    const stop = async () => {
      await Promise.all(programs.map(program => program.stop()));
      await postgres.stop();
      rmSync(userFolder, { recursive: true, force: true });
    };
    try {
      return await startOn(postgres, { ...options, userFolder, programs, stop });
    } catch (error) {
      await stop();
      throw error;
    }
  },
};

interface StartOptions extends PeerOptions {
  userFolder: string;
  /** Those that `stop` ends. */
  programs: Program[];
  stop(): Promise<void>;
}

async function startOn(postgres: Postgres, options: StartOptions): Promise<RunningPeer> {
  const { folder, node, stores, receiverUrl, senders, logFile, userFolder, programs, stop } = options;
  const script = join(folder, "node_modules/n8n/bin/n8n");
  const redis = new URL(stores.redisUrl);
  const prefix = `n8n-${randomBytes(4).toString("hex")}`;
  const port = await choosePort(0);
  const shared = {
    ...QUIET,
    ...{ N8N_USER_FOLDER: userFolder, N8N_ENCRYPTION_KEY: randomBytes(16).toString("hex") },
    ...{ EXECUTIONS_MODE: "queue", QUEUE_BULL_PREFIX: prefix },
    ...{ QUEUE_BULL_REDIS_HOST: redis.hostname, QUEUE_BULL_REDIS_PORT: redis.port },
    ...{ DB_TYPE: "postgresdb", DB_POSTGRESDB_HOST: "127.0.0.1", DB_POSTGRESDB_PORT: String(postgres.port) },
    ...{ DB_POSTGRESDB_USER: "postgres", DB_POSTGRESDB_DATABASE: "postgres" },
    ...{ N8N_LISTEN_ADDRESS: "127.0.0.1", N8N_RUNNERS_BROKER_LISTEN_ADDRESS: "127.0.0.1" },
  };
  const command = async (...args: string[]) => {
    const env = { ...process.env, ...shared };
    const { code, output } = await run(node.path, [script, ...args], { env });
    if (code !== 0) throw new Error(`n8n ${args[0]}: ${lastLine(output)}`);
  };
  const start = async (name: string, env: Record<string, string>) => {
    const own = { N8N_RUNNERS_BROKER_PORT: String(await choosePort(0)), ...env };
    const program = startScript(script, {
      args: [name],
      env: { ...shared, ...own },
      nodePath: node.path,
      logFile,
    });
    programs.push(program);
    return program;
  };
  const file = join(userFolder, "workflow.json");
  writeFileSync(file, JSON.stringify([workflowTo(`${receiverUrl}/0`)]));
  await command("import:workflow", `--input=${file}`);
  await command("publish:workflow", `--id=${ID}`);
  const main = await start("start", { N8N_PORT: String(port) });
  const worker = await start("worker", {});
  const url = `http://127.0.0.1:${port}/webhook/bench`;
  await untilItTakesEvents(url, programs);
  // n8n's queue has the same lists in Redis as those of its successor, BullMQ.
  const jobs = new Queue("jobs", { prefix, connection: { url: stores.redisUrl } });
  return {
    watched: [
      ...withChildren("n8n main", main.pid),
      ...withChildren("n8n worker", worker.pid),
      ...postgres.watched,
      ...stores.watched.filter(({ group }) => group === "redis"),
    ],
    stores,
    target: { kind: "http", urls: [url], connections: senders },
    whenIdle: () => whenIdle([jobs]),
    async stop() {
      await jobs.close();
      await stop();
    },
  };
}

/** Nothing of it calls home. */
const QUIET = {
  N8N_DIAGNOSTICS_ENABLED: "false",
  N8N_VERSION_NOTIFICATIONS_ENABLED: "false",
  N8N_TEMPLATES_ENABLED: "false",
  N8N_PERSONALIZATION_ENABLED: "false",
  N8N_COMMUNITY_PACKAGES_ENABLED: "false",
  N8N_LICENSE_AUTO_RENEW_ENABLED: "false",
  // It fetches a list of servers each time it starts.
  N8N_DISABLED_MODULES: "mcp-registry",
  N8N_LOG_LEVEL: "warn",
};

const ID = "headwaterBench01";

const CODE = `return $input.all().map(({ json }) => ({ json: ${withField("json.body")} }));`;

/** The workflow: a webhook that responds at once, a Code node, and an HTTP Request node. */
export function workflowTo(url: string): object {
  const node = (name: string, type: string, typeVersion: number, parameters: object) => {
    const id = name.toLowerCase().replace(/ /g, "-");
    return { id, name, type: `n8n-nodes-base.${type}`, typeVersion, position: [0, 0], parameters };
  };
  const to = (name: string) => ({ main: [[{ node: name, type: "main", index: 0 }]] });
  return {
    id: ID,
    name: "Bench",
    active: false,
    nodes: [
      {
        ...node("Webhook", "webhook", 2, { httpMethod: "POST", path: "bench", responseMode: "onReceived" }),
        // Without it the path has the workflow's id in it.
        webhookId: "bench",
      },
      node("Code", "code", 2, { jsCode: CODE }),
      node("HTTP Request", "httpRequest", 4.2, {
        ...{ method: "POST", url, sendHeaders: true, sendBody: true, specifyBody: "json" },
        headerParameters: { parameters: [{ name: "webhook-id", value: "={{ $execution.id }}" }] },
        jsonBody: "={{ JSON.stringify($json) }}",
      }),
    ],
    connections: { Webhook: to("Code"), Code: to("HTTP Request") },
    settings: { executionOrder: "v1" },
  };
}
