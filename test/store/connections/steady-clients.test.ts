import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { expect } from "chai";
import { Cluster, Redis } from "ioredis";
import { findRedis } from "../../../src/store/connections/find-redis.ts";
import {
  openProducerRedis,
  openWorkerRedis,
  type RedisClient,
  whenReady,
} from "../../../src/store/connections/redis.ts";
import type { RedisTarget } from "../../../src/store/connections/redis-url.ts";
import { keepSteady } from "../../../src/store/connections/steady-clients.ts";
import { testConfig } from "../../support/platform.ts";
import { openRedisNodes, type RedisNodes } from "../../support/redis-nodes.ts";
import { MASTER, openWatchedRedis } from "../../support/redis-sentinels.ts";
import { until } from "../../support/until.ts";

/** A way to a Sentinel on which responses can be held back. */
interface Gate {
  port: number;
  /** From now on what connects gets no response, until `release`. Earlier connections stay as they are. */
  hold(): void;
  release(): void;
  /** Connections that wait for a response. */
  held(): number;
  /** What went through to connections, or was lost because they were closed. */
  heard(): string;
  /** Connections that were made before `hold` and are still open. */
  early(): number;
  close(): void;
}

async function openGate(target: number): Promise<Gate> {
  const held = new Set<Socket>();
  const early = new Set<Socket>();
  let [isHolding, heard] = [false, ""];
  const pass = (client: Socket) => {
    const server = connect(target, "127.0.0.1");
    server.on("data", data => {
      heard += String(data);
    });
    client.pipe(server).pipe(client);
    for (const one of [client, server]) one.on("error", () => undefined);
  };
  const gate = createServer(client => {
    client.on("error", () => undefined);
    if (isHolding) {
      held.add(client);
      client.on("close", () => held.delete(client));
      return;
    }
    early.add(client);
    client.on("close", () => early.delete(client));
    pass(client);
  });
  await new Promise<void>(resolve => gate.listen(0, "127.0.0.1", resolve));
  return {
    port: (gate.address() as AddressInfo).port,
    hold() {
      isHolding = true;
    },
    release() {
      isHolding = false;
      for (const client of held) pass(client);
      held.clear();
    },
    held: () => held.size,
    heard: () => heard,
    early: () => early.size,
    close: () => gate.close(),
  };
}

/** Has a failover happen while a client asks for its master, and calls `check` once the client gets the response. */
async function failOver(
  open: (target: RedisTarget) => RedisClient,
  check: (client: RedisClient) => Promise<unknown>,
): Promise<void> {
  const watched = await openWatchedRedis({ replicas: 1, sentinels: 1 });
  const [sentinel] = watched.sentinels;
  const gate = await openGate(sentinel?.port ?? 0);
  const REDIS_URL = `redis+sentinel://127.0.0.1:${gate.port}/${MASTER}`;
  const client = open(await findRedis(testConfig({ REDIS_URL }).redis, 20_000));
  client.on("error", () => undefined);
  try {
    await whenReady(client, 20_000);
    await until(() => gate.heard().includes("+switch-master"), { what: "a subscription to failovers" });
    const old = await watched.master();
    gate.hold();
    await old.ask("CLIENT", "KILL", "TYPE", "normal");
    await until(() => gate.held() > 0, { what: "the client to ask for its master" });
    await sentinel?.ask("SENTINEL", "FAILOVER", MASTER);
    await until(async () => (await watched.master()) !== old, { what: "another master" });
    // The client has heard of it, or no longer listens.
    const wasTold = () => (gate.heard().match(/\+switch-master/g)?.length ?? 0) > 1;
    await until(() => wasTold() || gate.early() === 0, { what: "word of the failover" });
    gate.release();
    await check(client);
  } finally {
    client.disconnect();
    gate.close();
    await watched.close();
  }
}

describe("a client behind Sentinels", () => {
  for (const [kind, open] of [
    ["producer", openProducerRedis],
    ["worker", openWorkerRedis],
  ] as const) {
    it(`(${kind}) that asks for its master while word of a failover arrives goes on with the new master`, async () => {
      await failOver(open, async client => {
        await until(() => client.set("failover", "after"), { what: "a write" });
        expect(client.status).to.equal("ready");
      });
    });
  }

  it("ends there with ioredis' own connector: MasterConnector goes when it does not", async () => {
    const open = ({ servers }: RedisTarget) =>
      new Redis({ sentinels: servers, name: MASTER, failoverDetector: true });
    await failOver(open, client => until(() => client.status === "end", { what: "the end of the client" }));
  });
});

describe("a client of a Redis Cluster that can't serve at first", () => {
  let nodes: RedisNodes;
  before(async () => {
    nodes = await openRedisNodes();
  });
  after(() => nodes.close());

  /** Returns whether the first `connect` has settled once the client is ready, at its second or a later try. */
  async function settles(open: (port: number) => Cluster): Promise<boolean> {
    // A node that has met no other one does not know its address.
    const own = ["--cluster-announce-ip", "127.0.0.1", "--cluster-config-file", "nodes.conf"];
    const node = await nodes.server({ args: ["--cluster-enabled", "yes", ...own] });
    await node.ask("CLUSTER", "ADDSLOTSRANGE", "0", "16000");
    const client = open(node.port);
    client.on("error", () => undefined);
    let isSettled = false;
    const settle = () => {
      isSettled = true;
    };
    try {
      void client.connect().then(settle, settle);
      await until(() => client.status === "reconnecting", { what: "a try in vain" });
      await node.ask("CLUSTER", "ADDSLOTSRANGE", "16001", "16383");
      await until(() => client.status === "ready", { what: "the client to be ready" });
      // What `ready` settles is settled by the time that a command has ended.
      await client.ping();
      return isSettled;
    } finally {
      client.disconnect();
    }
  }

  const plain = (port: number) =>
    new Cluster([{ host: "127.0.0.1", port }], { lazyConnect: true, clusterRetryStrategy: () => 100 });

  it("connects in the end, which ioredis alone never says: keepSteady goes when it does @long", async () => {
    expect(await settles(port => keepSteady(plain(port)))).to.equal(true);
    expect(await settles(plain)).to.equal(false);
  });
});
