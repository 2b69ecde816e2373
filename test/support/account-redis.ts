import { fileURLToPath } from "node:url";
import { Redis } from "ioredis";
import { redisKind, redisProgram } from "../../script/lib/redis.mjs";
import { type OwnStore, ownServers } from "./own-stores.ts";

const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");

export const PASSWORD = "a-secret-of-the-account";

/** A Redis as an account has one, with a password; not the one that Headwater uses. */
export interface AccountRedis extends OwnStore {
  /** A client of its own. */
  client(): Redis;
  /** The entries of a stream, each as an object of its fields. */
  entries(stream: string): Promise<Record<string, string>[]>;
  close(): Promise<void>;
}

/** Starts it; `args` are further arguments of redis-server. */
export async function openAccountRedis(args: (port: number) => string[] = () => []): Promise<AccountRedis> {
  const { open, close } = ownServers();
  const program = await redisProgram({ root, say: () => undefined });
  const server = await open(
    firstPort => {
      const kind = redisKind({ program, firstPort });
      type Given = Parameters<typeof kind.args>[0];
      return {
        ...kind,
        args: (given: Given) => [...kind.args(given), "--requirepass", PASSWORD, ...args(given.port)],
        isUp,
      };
    },
    { url: port => `redis://127.0.0.1:${port}` },
  );
  const clients: Redis[] = [];
  const connected = () => {
    const client = new Redis(server.port, "127.0.0.1", { password: PASSWORD, maxRetriesPerRequest: null });
    client.on("error", () => undefined);
    clients.push(client);
    return client;
  };
  let reader: Redis | undefined;
  return {
    ...server,
    client: connected,
    async entries(stream) {
      reader ??= connected();
      const rows = await reader.xrange(stream, "-", "+");
      return rows.map(([, fields]) =>
        Object.fromEntries(
          Array.from({ length: fields.length / 2 }, (_, i) => [fields[2 * i], fields[2 * i + 1]]),
        ),
      );
    },
    async close() {
      for (const client of clients) client.disconnect();
      await close();
    },
  };
}

async function isUp(port: number): Promise<boolean> {
  const client = new Redis(port, "127.0.0.1", {
    password: PASSWORD,
    lazyConnect: true,
    retryStrategy: () => null,
  });
  client.on("error", () => undefined);
  try {
    await client.connect();
    return (await client.ping()) === "PONG";
  } catch {
    return false;
  } finally {
    client.disconnect();
  }
}
