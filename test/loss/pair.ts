import type { RedisNode, RedisNodes } from "../support/redis-nodes.ts";
import { openRedisNodes } from "../support/redis-nodes.ts";
import { openTcpProxy } from "../support/tcp-proxy.ts";
import { until } from "../support/until.ts";

/** A Redis with one replica, behind an address that leads to whichever is the master. */
export interface RedisPair {
  /** Where clients connect. */
  url: string;
  master: RedisNode;
  replica: RedisNode;
  /** Breaks the replica's connection, or leaves it open and passes nothing on. */
  stopReplication(how: "cut" | "hang"): void;
  /** Kills the master with SIGKILL, makes the replica the master, and leads clients there. */
  failOver(): Promise<void>;
  /** Starts the killed server as the replica of the other one. */
  rejoin(): Promise<void>;
  close(): Promise<void>;
}

/** Starts both; resolves when the replica follows. `args` are options of redis-server. */
export async function openRedisPair(args: string[] = []): Promise<RedisPair> {
  const nodes: RedisNodes = await openRedisNodes();
  const options = { args: ["--repl-diskless-sync-delay", "0", ...args] };
  const [master, replica] = await Promise.all([nodes.server(options), nodes.server(options)]);
  const [forClients, forReplica] = await Promise.all([openTcpProxy(master.port), openTcpProxy(master.port)]);
  const isFollowed = (server: RedisNode) =>
    until(async () => /state=online/.test(String(await server.ask("INFO", "replication"))), {
      what: "the replica",
    });
  await replica.ask("REPLICAOF", "127.0.0.1", forReplica.port);
  await isFollowed(master);
  return {
    url: `redis://127.0.0.1:${forClients.port}`,
    master,
    replica,
    stopReplication: how => forReplica[how](),
    async failOver() {
      await master.kill();
      await replica.ask("REPLICAOF", "NO", "ONE");
      forClients.leadTo(replica.port);
    },
    async rejoin() {
      await master.start();
      await master.ask("REPLICAOF", "127.0.0.1", replica.port);
      await isFollowed(replica);
    },
    async close() {
      await Promise.all([forClients.close(), forReplica.close()]);
      await nodes.close();
    },
  };
}
