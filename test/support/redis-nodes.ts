import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { Redis, type RedisOptions } from "ioredis";
import { redisKind, redisProgram } from "../../script/lib/redis.mjs";
import { TEST_TLS } from "../egress/test-tls.ts";
import { root } from "./built.ts";
import { type OwnStore, ownServers } from "./own-stores.ts";

/** A Redis, or a Sentinel, that a test may stop and start again. */
export interface RedisNode extends OwnStore {
  /** Sends one command over a connection of its own. */
  ask(...words: [string, ...(string | number)[]]): Promise<unknown>;
}

/** What the nodes of one test have in common. */
export interface NodeOptions {
  /** Speak TLS only, with the certificate of TEST_TLS. */
  tls?: boolean;
  /** Options of redis-server. */
  args?: string[];
  /** What `ask` signs in with. */
  password?: string;
}

export interface RedisNodes {
  server(options?: NodeOptions): Promise<RedisNode>;
  /** Starts a Sentinel with these lines in its configuration. */
  sentinel(lines: string[], options?: NodeOptions): Promise<RedisNode>;
  /** A file with the certificate. */
  caFile: string;
  close(): Promise<void>;
}

/** The bus of a cluster has the port 10,000 above, which must be below those of outgoing connections. */
const PORTS = { first: 12_000, count: 10_000 };

const somePort = () => PORTS.first + Math.floor(Math.random() * PORTS.count);

/** Opens what starts Redis servers and Sentinels for one test, each with a folder of its own. */
export async function openRedisNodes(): Promise<RedisNodes> {
  const program = await redisProgram({ root, say: () => undefined });
  const { open, close } = ownServers();
  const files = writeCertificate();
  let count = 0;

  async function start(kindOf: (given: Given) => Kind, options: NodeOptions): Promise<RedisNode> {
    count += 1;
    const name = `redis-${count}`;
    const node = await open(
      port => kindOf({ ...options, program, firstPort: port || somePort(), name, files }),
      { url: port => `${options.tls ? "rediss" : "redis"}://127.0.0.1:${port}` },
    );
    return Object.assign(node, {
      ask: (...words: [string, ...(string | number)[]]) => ask(node.port, options, words),
    });
  }

  return {
    caFile: files.cert,
    server: (options = {}) => start(serverKind, options),
    sentinel: (lines, options = {}) => start(given => sentinelKind(given, lines), options),
    async close() {
      await close();
      rmSync(files.folder, { recursive: true, force: true });
    },
  };
}

type Kind = ReturnType<typeof redisKind>;

interface Files {
  folder: string;
  cert: string;
  key: string;
}

function writeCertificate(): Files {
  const folder = mkdtempSync(join(tmpdir(), "headwater-tls-"));
  const files = { folder, cert: join(folder, "cert.pem"), key: join(folder, "key.pem") };
  writeFileSync(files.cert, TEST_TLS.cert);
  writeFileSync(files.key, TEST_TLS.key);
  return files;
}

type Given = NodeOptions & { program: string; firstPort: number; name: string; files: Files };

function serverKind({ program, firstPort, name, files, tls = false, args = [] }: Given): Kind {
  const kind = redisKind({ program, firstPort });
  return {
    ...kind,
    name,
    args: given => [...kind.args(given), ...(tls ? tlsArgs(given.port, files) : []), ...args],
    isUp: port => responds(port, tls),
  };
}

const tlsArgs = (port: number, { cert, key }: Files): string[] => [
  ...["--port", "0", "--tls-port", String(port), "--tls-auth-clients", "no"],
  ...["--tls-cert-file", cert, "--tls-key-file", key, "--tls-ca-cert-file", cert, "--tls-replication", "yes"],
];

function sentinelKind(
  { program, firstPort, name, files, tls = false, args = [] }: Given,
  lines: string[],
): Kind {
  return {
    ...redisKind({ program, firstPort }),
    name,
    args({ port, data, logFile }) {
      const file = join(data, "sentinel.conf");
      // Sentinel keeps there what it learned.
      if (!existsSync(file)) writeFileSync(file, `${lines.join("\n")}\n`);
      return [
        ...[file, "--sentinel", "--dir", data, "--port", String(port), "--bind", "127.0.0.1"],
        ...["--logfile", logFile, "--set-proc-title", "no"],
        ...(tls ? tlsArgs(port, files) : []),
        ...args,
      ];
    },
    isUp: port => responds(port, tls),
  };
}

/** Whether a server responds; that it wants a password is a response too. */
function responds(port: number, tls: boolean): Promise<boolean> {
  return new Promise(resolve => {
    const at = { port, host: "127.0.0.1", timeout: 2000 };
    const socket = tls ? connectTls({ ...at, rejectUnauthorized: false }) : connect(at);
    const end = (isUp: boolean) => {
      socket.destroy();
      resolve(isUp);
    };
    socket.on(tls ? "secureConnect" : "connect", () => socket.write("PING\r\n"));
    socket.on("data", data => end(/^(\+PONG|-NOAUTH)/.test(String(data))));
    for (const event of ["error", "timeout", "close"]) socket.on(event, () => end(false));
  });
}

async function ask(
  port: number,
  { tls, password }: NodeOptions,
  [command, ...words]: [string, ...(string | number)[]],
): Promise<unknown> {
  const options: RedisOptions = {
    ...{ port, host: "127.0.0.1", retryStrategy: null, commandTimeout: 5000, protocol: 2 },
    enableReadyCheck: false,
    ...(tls && { tls: { rejectUnauthorized: false } }),
    ...(password !== undefined && { password }),
  };
  const redis = new Redis(options);
  redis.on("error", () => undefined);
  try {
    return await redis.call(command, ...words);
  } finally {
    redis.disconnect();
  }
}
