import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { Cluster, Redis } from "ioredis";
import mongoose from "mongoose";
import { redisProgram } from "../../../script/lib/redis.mjs";
import { parseRedisUrl, singleServer } from "../../../src/store/connections/redis-url.ts";
import { storeHosts } from "../../../src/store/connections/store-hosts.ts";
import { openTestPlatform, type TestPlatform } from "../../support/platform.ts";
import { until } from "../../support/until.ts";

/** Free ports so low that the port of their cluster bus, 10,000 above, is below the ephemeral range. */
async function freePorts(count: number): Promise<number[]> {
  const found: number[] = [];
  while (found.length < count) {
    const server = createServer().listen(12_000 + Math.floor(Math.random() * 10_000), "127.0.0.1");
    const [event] = await Promise.race([
      once(server, "listening").then(() => ["listening"]),
      once(server, "error").then(() => ["error"]),
    ]);
    if (event !== "listening") continue;
    found.push((server.address() as AddressInfo).port);
    await new Promise(done => server.close(done));
  }
  return found;
}

describe("hosts of the stores", () => {
  let platform: TestPlatform;
  before(async () => {
    platform = await openTestPlatform({}, { process: "web" });
  });
  after(() => platform.destroy());

  const stores = (overrides: object = {}) => ({
    redis: platform.redis,
    redisTarget: platform.redisTarget,
    mongo: platform.mongo,
    mongodbUrl: platform.config.mongodbUrl,
    ...overrides,
  });

  it("are read from the settings, with default ports, in every form of a URL", () => {
    const hosts = storeHosts(
      stores({
        redisTarget: {
          ...platform.redisTarget,
          servers: parseRedisUrl("redis://u:p@cache.test, redis://[fd00::7]:6400").servers,
          members: [{ host: "replica.test", port: 6379 }],
        },
        mongodbUrl: "mongodb://u:p%40ss@a.test,b.test:27018,[fd00::8]:27019,[fd00::9]/db?replicaSet=rs",
      }),
    )();
    expect(hosts).to.deep.include.members([
      { host: "cache.test", port: 6379 },
      { host: "replica.test", port: 6379 },
      { host: "fd00::7", port: 6400 },
      { host: "a.test", port: 27017 },
      { host: "b.test", port: 27018 },
      { host: "fd00::8", port: 27019 },
      { host: "fd00::9", port: 27017 },
    ]);
  });

  it("include the members of a replica set as the driver knows them", async () => {
    const url = new URL(platform.config.mongodbUrl);
    const mongo = await mongoose.createConnection(url.href).asPromise();
    try {
      const hello = await mongo.db?.admin().command({ hello: 1 });
      const members = ((hello?.hosts ?? []) as string[]).map(one => {
        const [host = "", port] = one.split(":");
        return { host, port: Number(port) };
      });
      expect(members).not.to.have.length(0);
      // A `mongodb+srv` URL names no server itself.
      const hosts = storeHosts(stores({ mongo, mongodbUrl: "mongodb+srv://cluster.test/db" }))();
      expect(hosts).to.deep.include.members(members);
      expect(hosts.map(({ host }) => host)).not.to.include("cluster.test");
    } finally {
      await mongo.close();
    }
  });

  describe("in a Redis Cluster", () => {
    const servers: ChildProcess[] = [];
    let folder = "";
    let ports: number[] = [];
    let cluster: Cluster;

    before(async () => {
      folder = await mkdtemp(join(tmpdir(), "hw-cluster-"));
      ports = await freePorts(2);
      const program = await redisProgram({ root: process.cwd(), say: () => undefined });
      for (const port of ports) {
        const args = [
          "--port",
          port,
          "--bind",
          "127.0.0.1",
          "--dir",
          folder,
          "--save",
          "",
          "--cluster-enabled",
        ];
        const file = ["yes", "--cluster-config-file", `nodes-${port}.conf`];
        servers.push(spawn(program, [...args, ...file].map(String), { stdio: "ignore" }));
      }
      const [first, second] = ports.map(port => new Redis(port, "127.0.0.1").on("error", () => undefined));
      await first?.call("CLUSTER", "ADDSLOTSRANGE", "0", "8191");
      await second?.call("CLUSTER", "ADDSLOTSRANGE", "8192", "16383");
      await first?.call("CLUSTER", "MEET", "127.0.0.1", String(ports[1]));
      const isWhole = async (node: Redis | undefined) =>
        String(await node?.call("CLUSTER", "INFO")).includes("cluster_state:ok");
      await until(async () => (await isWhole(first)) && (await isWhole(second)), { what: "a whole cluster" });
      for (const node of [first, second]) node?.disconnect();
      cluster = new Cluster([`redis://127.0.0.1:${ports[0]}`]);
    });
    after(async () => {
      cluster?.disconnect();
      for (const server of servers) {
        server.kill("SIGKILL");
        await once(server, "exit");
      }
      await rm(folder, { recursive: true, force: true });
    });

    it("include nodes that no setting names, and the ports of the cluster bus", async () => {
      await cluster.ping();
      const hosts = storeHosts(
        stores({ redis: cluster, redisTarget: singleServer(`redis://127.0.0.1:${ports[0]}`) }),
      );
      const wanted = ports.flatMap(port =>
        [port, port + 10_000].map(on => ({ host: "127.0.0.1", port: on })),
      );
      await until(() => wanted.every(one => hosts().some(({ port }) => port === one.port)), {
        what: "both nodes",
      });
      expect(hosts()).to.deep.include.members(wanted);
    });
  });
});
