import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { expect } from "chai";
import { findRedis } from "../../src/store/find-redis.ts";
import { openProducerRedis, openWorkerRedis, whenReady } from "../../src/store/redis.ts";
import { testConfig } from "../support/platform.ts";
import { MASTER, openWatchedRedis } from "../support/redis-sentinels.ts";
import { until } from "../support/until.ts";

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

describe("a client behind Sentinels", () => {
  for (const [kind, open] of [
    ["producer", openProducerRedis],
    ["worker", openWorkerRedis],
  ] as const) {
    it(`(${kind}) that asks for its master while word of a failover arrives goes on with the new master`, async () => {
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
        await until(() => client.set("failover", "after"), { what: "a write" });
        expect(client.status).to.equal("ready");
      } finally {
        client.disconnect();
        gate.close();
        await watched.close();
      }
    });
  }
});
