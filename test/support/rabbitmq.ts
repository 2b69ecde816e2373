import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Channel, type ChannelModel, connect, type GetMessage } from "amqplib";
import { choosePort, isFree } from "../../script/lib/ports.mjs";
import { rabbitMqProgram } from "../../script/lib/rabbitmq.mjs";
import { until } from "./until.ts";

const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");

/** The only user of the broker. */
export const BROKER = { username: "account", password: "a-secret-of-the-account" };

/** A RabbitMQ as an account has one. */
export interface RabbitMq {
  url: string;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
  /** Starts it again with the same port and data. */
  start(): Promise<void>;
  /** Makes a queue that outlives the broker. */
  queue(name: string, args?: object): Promise<void>;
  /** Makes an exchange, and a queue that gets what has this routing key. */
  exchange(name: string, routingKey: string, queue: string): Promise<void>;
  /** Takes all messages of a queue. */
  messages(queue: string): Promise<GetMessage[]>;
  /** How many connections it has. */
  connections(): number;
  close(): Promise<void>;
}

/** Starts a RabbitMQ for one test, with its data in a temporary folder; says why if the machine has none. */
export async function openRabbitMq(): Promise<RabbitMq | { missing: string }> {
  const program = await rabbitMqProgram({ root }).catch((error: Error) => error);
  if (program instanceof Error) return { missing: program.message };
  if (!program) {
    return { missing: "there is no rabbitmq-server on the PATH (Debian: apt-get install rabbitmq-server)" };
  }
  const folder = mkdtempSync(join(tmpdir(), `headwater-rabbitmq-${process.pid}-`));
  const [port, distribution, names] = [await choosePort(0), await choosePort(0), await choosePort(0)];
  for (const name of ["data", "logs"]) mkdirSync(join(folder, name));
  writeFileSync(join(folder, "rabbitmq.conf"), settings(port));
  const environment = {
    ...process.env,
    HOME: folder,
    ERL_EPMD_PORT: String(names),
    RABBITMQ_CONF_ENV_FILE: join(folder, "none"),
    RABBITMQ_CONFIG_FILE: join(folder, "rabbitmq.conf"),
    RABBITMQ_ENABLED_PLUGINS_FILE: join(folder, "no-plugins"),
    RABBITMQ_NODENAME: `headwater${port}@localhost`,
    RABBITMQ_NODE_PORT: String(port),
    RABBITMQ_DIST_PORT: String(distribution),
    RABBITMQ_MNESIA_BASE: join(folder, "data"),
    RABBITMQ_LOG_BASE: join(folder, "logs"),
    RABBITMQ_PID_FILE: join(folder, "pid"),
    // One thread: it shares the machine with the other tests.
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: "+S 1:1 +A 4",
  };
  // Erlang would start one of its own, which stays.
  const epmd = spawn("epmd", ["-port", String(names)], { stdio: "ignore" });
  epmd.on("error", () => undefined);
  let broker: ChildProcess | undefined;
  let model: ChannelModel | undefined;
  const killAll = () => {
    if (broker?.pid !== undefined && broker.exitCode === null && broker.signalCode === null) {
      // The script and the Erlang that it started.
      process.kill(-broker.pid, "SIGKILL");
    }
  };
  const atExit = () => {
    killAll();
    epmd.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  };
  process.once("exit", atExit);

  const url = `amqp://127.0.0.1:${port}`;
  const start = async () => {
    broker = spawn(program, [], { cwd: folder, detached: true, stdio: "ignore", env: environment });
    broker.on("error", () => undefined);
    model = await until(() => connect({ hostname: "127.0.0.1", port, ...BROKER }), {
      what: "RabbitMQ to accept connections",
      timeoutMs: 180_000,
    });
    model.on("error", () => undefined);
  };
  const kill = async () => {
    killAll();
    await until(() => isFree(port), { what: "RabbitMQ to be gone" });
  };
  const onChannel = async <T>(work: (channel: Channel) => Promise<T>): Promise<T> => {
    const channel = await model?.createChannel();
    if (!channel) throw new Error("RabbitMQ is not running");
    channel.on("error", () => undefined);
    const result = await work(channel);
    await channel.close();
    return result;
  };
  try {
    await start();
  } catch (error) {
    atExit();
    throw error;
  }
  return {
    url,
    start,
    kill,
    queue: (name, args) =>
      onChannel(async channel => void (await channel.assertQueue(name, { durable: true, arguments: args }))),
    exchange: (name, routingKey, queue) =>
      onChannel(async channel => {
        await channel.assertExchange(name, "topic", { durable: true });
        await channel.assertQueue(queue, { durable: true });
        await channel.bindQueue(queue, name, routingKey);
      }),
    messages: queue =>
      onChannel(async channel => {
        const found: GetMessage[] = [];
        for (;;) {
          const message = await channel.get(queue, { noAck: true });
          if (!message) return found;
          found.push(message);
        }
      }),
    connections: () => establishedAt(port),
    async close() {
      await kill();
      process.off("exit", atExit);
      atExit();
    },
  };
}

const settings = (port: number) => `listeners.tcp.default = 127.0.0.1:${port}
default_user = ${BROKER.username}
default_pass = ${BROKER.password}
disk_free_limit.absolute = 1MB
log.file.level = warning
`;

/** How many established connections a server on this port of this machine has. */
function establishedAt(port: number): number {
  const hex = port.toString(16).toUpperCase().padStart(4, "0");
  const lines = ["/proc/net/tcp", "/proc/net/tcp6"].flatMap(file => readFileSync(file, "utf8").split("\n"));
  return lines.filter(line => {
    const [, local = "", , state] = line.trim().split(/\s+/);
    return local.endsWith(`:${hex}`) && state === "01";
  }).length;
}
