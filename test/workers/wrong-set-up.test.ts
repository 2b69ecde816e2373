// runs-long: npm test has test/store/connections/find-redis.test.ts, where two processes end so
import { expect } from "chai";
import { mongoKind } from "../../script/lib/mongo.mjs";
import { mongodProgram } from "../../script/lib/mongod.mjs";
import { root } from "../support/built.ts";
import { type OwnStore, ownServers } from "../support/own-stores.ts";
import { testConfig } from "../support/platform.ts";
import { openRedisNodes, type RedisNode, type RedisNodes } from "../support/redis-nodes.ts";
import { environmentOf, spawnWorker } from "./worker-process.ts";

const PASSWORD = "hunter2";

describe("a process with a set-up that no later start can mend", () => {
  const servers = ownServers();
  let nodes: RedisNodes;
  let plain: RedisNode;
  let evicting: RedisNode;
  let sentinel: RedisNode;
  let mongo: OwnStore;

  before(async () => {
    nodes = await openRedisNodes();
    const program = await mongodProgram({ root, say: () => undefined });
    const alone = (args: string[]) =>
      args.filter((word, i) => word !== "--replSet" && args[i - 1] !== "--replSet");
    [plain, evicting, sentinel, mongo] = await Promise.all([
      nodes.server({ password: PASSWORD, args: ["--requirepass", PASSWORD] }),
      nodes.server({ args: ["--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"] }),
      nodes.sentinel([]),
      servers.open(
        firstPort => {
          const kind = mongoKind({ program, firstPort, root });
          return { ...kind, args: given => alone(kind.args(given)) };
        },
        { url: port => `mongodb://127.0.0.1:${port}` },
      ),
    ]);
    await plain.ask("ACL", "SETUSER", "mute", "on", `>${PASSWORD}`, "~*", "resetchannels", "+@all");
  });
  after(async () => {
    await Promise.all([nodes?.close(), servers.close()]);
  });

  const at = ({ port }: { port: number }) => `127.0.0.1:${port}`;
  const withPassword = (node: RedisNode) => `redis://:${PASSWORD}@${at(node)}`;

  const WRONG: [what: string, env: () => Record<string, string>, line: RegExp][] = [
    [
      "a list of servers that are no cluster",
      () => ({ REDIS_URL: `${withPassword(plain)},redis://127.0.0.1:1` }),
      /REDIS_URL: 127\.0\.0\.1:\d+ is not a node of a cluster/,
    ],
    [
      "a Sentinel that watches no such master",
      () => ({ REDIS_URL: `redis+sentinel://${at(sentinel)}/main` }),
      /REDIS_URL: the Sentinel 127\.0\.0\.1:\d+ does not watch a master named main; it watches: none/,
    ],
    [
      "a user of Redis who may not use channels",
      () => ({ REDIS_URL: `redis://mute:${PASSWORD}@${at(plain)}` }),
      /REDIS_URL: the user lacks permissions .*channels/,
    ],
    ["a Redis that may evict keys", () => ({ REDIS_URL: evicting.url }), /maxmemory-policy is allkeys-lru/],
    [
      "a MongoDB without a replica set",
      () => ({ MONGODB_URL: `${mongo.url}/wrong` }),
      /MONGODB_URL: MongoDB is not a replica set/,
    ],
    [
      "a key of the wrong length",
      () => ({ SECRETS_KEY: Buffer.from(PASSWORD).toString("base64") }),
      /configuration: SECRETS_KEY /,
    ],
  ];

  for (const [what, env, line] of WRONG) {
    it(`such as ${what} ends with one line and exit code 78`, async () => {
      const given = { ...environmentOf(testConfig()), ...env() };
      for (const child of ["web", "deliveries"].map(name => spawnWorker(name, given))) {
        expect(await child.ended, child.output()).to.equal(78);
        const lines = child.output().trim().split("\n");
        // Its log is JSON.
        const shown = lines.filter(one => !one.startsWith("{"));
        expect(shown).to.have.length(1);
        expect(shown[0]).to.match(line);
        expect(child.output()).not.to.include(PASSWORD);
      }
    });
  }
});
