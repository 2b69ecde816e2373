import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { expect } from "chai";
import { SetupError } from "../../../src/lib/errors.ts";
import { findRedis } from "../../../src/store/connections/find-redis.ts";
import { openProducerRedis, openWorkerRedis, whenReady } from "../../../src/store/connections/redis.ts";
import type { RedisTarget } from "../../../src/store/connections/redis-url.ts";
import { testConfig } from "../../support/platform.ts";
import { openRedisCluster, type RedisCluster } from "../../support/redis-cluster.ts";
import { openRedisNodes, type RedisNode, type RedisNodes } from "../../support/redis-nodes.ts";
import { MASTER, openWatchedRedis, type WatchedRedis } from "../../support/redis-sentinels.ts";
import { environmentOf, spawnWorker } from "../../workers/worker-process.ts";

const PASSWORD = "hunter2";
const DEADLINE_MS = 20_000;

const find = (REDIS_URL: string, env: Record<string, string> = {}): Promise<RedisTarget> =>
  findRedis(testConfig({ REDIS_URL, ...env }).redis, DEADLINE_MS);

/** Returns the message with which a start with this URL is given up; it has one line and no password. */
async function faultOf(url: string, env?: Record<string, string>): Promise<string> {
  try {
    return `found: ${(await find(url, env)).mode}`;
  } catch (error) {
    expect(error, String(error)).to.be.instanceOf(SetupError);
    const { message } = error as Error;
    expect(message).not.to.match(/\n|hunter/);
    return message;
  }
}

/** Writes and reads with each kind of client. */
async function works(target: RedisTarget): Promise<void> {
  for (const open of [openProducerRedis, openWorkerRedis]) {
    const redis = open(target).on("error", () => undefined);
    try {
      await whenReady(redis, DEADLINE_MS);
      for (const key of ["a", "b", "c", "d"]) {
        await redis.set(`find:${key}`, key, "EX", 60);
        expect(await redis.get(`find:${key}`)).to.equal(key);
      }
    } finally {
      redis.disconnect();
    }
  }
}

describe("connections to Redis", () => {
  let nodes: RedisNodes;
  let single: RedisNode;
  let withTls: RedisNode;
  let cluster: RedisCluster;
  let watched: WatchedRedis;

  before(async () => {
    nodes = await openRedisNodes();
    [single, withTls, cluster, watched] = await Promise.all([
      nodes.server({ password: PASSWORD, args: ["--requirepass", PASSWORD, "--databases", "4"] }),
      nodes.server({ tls: true }),
      openRedisCluster({ tls: true, replicas: 0 }),
      openWatchedRedis({ tls: true, replicas: 1, sentinels: 1, password: PASSWORD }),
    ]);
    await single.ask("ACL", "SETUSER", "worker", "on", `>${PASSWORD}`, "~*", "&*", "+@all");
  });
  after(async () => {
    await Promise.all([nodes?.close(), cluster?.close(), watched?.close()]);
  });

  const at = (node: { port: number }) => `127.0.0.1:${node.port}`;

  it("are to one server with a user, a password and a database", async () => {
    const target = await find(`redis://worker:${PASSWORD}@${at(single)}/3`);
    expect(target).to.deep.include({ mode: "single", members: [] });
    await works(target);
    expect(String(await single.ask("INFO", "keyspace"))).to.match(/^db3:keys=4/m);
  });

  it("are given up at once for a wrong password, a missing one, or a database that does not exist", async () => {
    expect(await faultOf(`redis://:hunter3@${at(single)}`)).to.equal(
      `REDIS_URL: ${at(single)} rejects this user and password`,
    );
    expect(await faultOf(`redis://${at(single)}`)).to.equal(
      `REDIS_URL: ${at(single)} requires a password (NOAUTH)`,
    );
    expect(await faultOf(`redis://:${PASSWORD}@${at(single)}/7`)).to.equal(
      `REDIS_URL: ${at(single)} has no database 7`,
    );
  });

  it("are given up at once for the port of something else", async () => {
    const http = createServer((_request, response) => response.end()).listen(0, "127.0.0.1");
    await once(http, "listening");
    const { port } = http.address() as AddressInfo;
    expect(await faultOf(`redis://127.0.0.1:${port}`)).to.equal(
      `REDIS_URL: 127.0.0.1:${port} is not a Redis server`,
    );
    http.close();
  });

  it("wait for a server that accepts connections and says nothing, and then say so @long", async () => {
    const silent = createTcpServer().listen(0, "127.0.0.1");
    await once(silent, "listening");
    const { port } = silent.address() as AddressInfo;
    for (const [url, line] of [
      [`redis://127.0.0.1:${port}`, "accepts connections, but does not respond like a Redis server"],
      [`rediss://127.0.0.1:${port}`, "over TLS: connect ETIMEDOUT"],
    ] as const) {
      const fault = await findRedis(testConfig({ REDIS_URL: url }).redis, 100).catch((error: Error) => error);
      expect(fault).not.to.be.instanceOf(SetupError);
      expect((fault as Error).message).to.include(line);
    }
    silent.close();
  });

  it("wait for a server that is away, and then say why", async () => {
    const { redis } = testConfig({ REDIS_URL: "redis://127.0.0.1:1" });
    const fault = await findRedis(redis, 100).catch((error: Error) => error);
    expect(fault).not.to.be.instanceOf(SetupError);
    expect((fault as Error).message).to.match(/^REDIS_URL: Redis did not respond \(.*ECONNREFUSED.*\)$/);
  });

  it("end a process with one line and exit code 78 if no later start can help", async () => {
    const env = { ...environmentOf(testConfig()), REDIS_URL: `redis://${at(single)}` };
    for (const child of ["web", "deliveries"].map(name => spawnWorker(name, env))) {
      expect(await child.ended, child.output()).to.equal(78);
      const lines = child.output().trim().split("\n");
      expect(lines.filter(line => !line.startsWith("{"))).to.have.length(1);
      expect(lines.at(-1)).to.match(/: REDIS_URL: .* requires a password/);
    }
  });

  describe("over TLS", () => {
    it("are to one server, with a file of certificates or without verification", async () => {
      const url = `rediss://${at(withTls)}`;
      await works(await find(url, { REDIS_TLS: nodes.caFile }));
      await works(await find(url, { REDIS_TLS: "unverified" }));
      expect(await faultOf(url)).to.match(/the certificate of .* is not trusted .*REDIS_TLS/);
    });

    it("are given up at once if one of server and URL speaks TLS and the other does not", async () => {
      expect(await faultOf(`redis://${at(withTls)}`)).to.equal(
        `REDIS_URL: ${at(withTls)} speaks TLS: the URL must begin with rediss, not redis`,
      );
      expect(await faultOf(`rediss://${at(single)}`, { REDIS_TLS: "unverified" })).to.equal(
        `REDIS_URL: ${at(single)} does not speak TLS: the URL must begin with redis, not rediss`,
      );
    });

    it("are to a cluster, from a list or from one node", async () => {
      const env = { REDIS_TLS: cluster.caFile };
      const first = cluster.nodes[0]?.url ?? "";
      for (const [url, more] of [
        [cluster.url, env],
        [first, env],
        [cluster.url, { REDIS_TLS: "unverified" }],
      ] as const) {
        const target = await find(url, more);
        expect(target.mode).to.equal("cluster");
        await works(target);
      }
    });

    it("are to a server that Sentinels watch, which they name with its replicas", async () => {
      const target = await find(watched.url, { REDIS_TLS: watched.caFile });
      expect(target.mode).to.equal("sentinel");
      expect(target.members.map(({ port }) => port)).to.have.members(watched.servers.map(({ port }) => port));
      await works(target);
    });

    it("are through a Sentinel that knows the master, although another one has forgotten it @long", async () => {
      const forgetful = await nodes.sentinel([]);
      const list = watched.url.replace("@", `@${at(forgetful)},`);
      expect(
        await faultOf(watched.url.replace(/@[^/]+/, `@${at(forgetful)}`), { REDIS_TLS: "unverified" }),
      ).to.include("does not");
      await works(await find(list, { REDIS_TLS: watched.caFile }));
    });
  });

  it("are given up at once if the servers are not what the settings say", async () => {
    const tls = { REDIS_TLS: "unverified" };
    const node = cluster.nodes[0] as RedisNode;
    const sentinel = watched.sentinels[0] as RedisNode;
    const list = `redis://:${PASSWORD}@${at(single)},redis://:${PASSWORD}@127.0.0.1:1`;
    expect(await faultOf(list)).to.equal(
      `REDIS_URL: ${at(single)} is not a node of a cluster, but a list of servers requires one`,
    );
    // A key would go to either, depending on which of the two responds first.
    expect(await faultOf(`${node.url},rediss://${at(withTls)}`, tls)).to.match(/is not a node of a cluster/);
    expect(await faultOf(`${node.url}/2`, tls)).to.match(/is a node of a cluster, which has only database 0/);
    expect(await faultOf(sentinel.url, tls)).to.match(/is a Sentinel: the URL must be redis\+sentinel:/);
    expect(await faultOf(`rediss+sentinel://${at(withTls)}/${MASTER}`, tls)).to.match(
      /is a Redis server, not a Sentinel/,
    );
    expect(await faultOf(watched.url.replace(MASTER, "other"), tls)).to.match(
      new RegExp(`does not watch a master named other; it watches: ${MASTER}$`),
    );
    expect(await faultOf(watched.url.replace(PASSWORD, "hunter3"), tls)).to.match(
      /rejects this user and password/,
    );
  });
});
