import type { AddressInfo } from "node:net";
import { createServer, type TLSSocket } from "node:tls";
import { expect } from "chai";
import { connectToRabbitMq } from "../../src/destinations/rabbitmq/send.ts";
import { connectToRedis } from "../../src/destinations/redis-stream/send.ts";
import { createEgress, type Egress, type EgressOptions } from "../../src/egress/agent.ts";
import { parseProxyUrl } from "../../src/egress/proxy.ts";
import { type ConnectProxy, startConnectProxy } from "../egress/connect-proxy.ts";
import { TEST_TLS } from "../egress/test-tls.ts";
import { type AccountRedis, openAccountRedis, PASSWORD } from "../support/account-redis.ts";

const SETTINGS = { username: null, password: PASSWORD, ca: null };

describe("the way out of destinations", () => {
  let redis: AccountRedis;
  let egress: Egress | undefined;
  before(async () => {
    redis = await openAccountRedis();
  });
  afterEach(() => egress?.close());
  after(() => redis?.close());

  const open = (options: Partial<EgressOptions>) => {
    egress = createEgress({ allow: [], blockedHosts: [], connectTimeoutMs: 2000, ...options });
    return egress;
  };
  const toRedis = (through: Egress) => {
    const url = `redis://innocent.example:${redis.port}`;
    return connectToRedis(through, { ...SETTINGS, url, stream: "x", max_length: 1 });
  };
  const toRabbitMq = (through: Egress) => {
    const url = `amqp://innocent.example:${redis.port}`;
    const queue = { queue: "x", exchange: null, routing_key: null };
    return connectToRabbitMq(through, { ...SETTINGS, ...queue, url }, 2000);
  };

  describe("through a forward proxy", () => {
    let proxy: ConnectProxy;
    beforeEach(async () => {
      proxy = await startConnectProxy();
    });
    afterEach(() => proxy.close());
    const behindProxy = () =>
      open({
        allow: ["127.0.0.1"],
        resolve: async () => ["127.0.0.1"],
        proxy: parseProxyUrl(`http://127.0.0.1:${proxy.port}`),
      });

    it("reaches a Redis", async () => {
      (await toRedis(behindProxy())).close();
      expect(proxy.asked).to.deep.equal([`127.0.0.1:${redis.port}`]);
    });

    it("reaches a RabbitMQ over TLS, and never goes around the proxy", async () => {
      const through = behindProxy();
      const plain = await toRabbitMq(through).catch(caught => caught);
      expect([plain.code, plain.message]).to.deep.equal([
        "connect",
        "amqp:// can't go through the server's proxy: use amqps://",
      ]);
      expect(proxy.asked).to.deep.equal([]);
      let names: unknown[] = [];
      // A broker that says nothing more once TLS is there.
      const broker = createServer(TEST_TLS, (socket: TLSSocket) => {
        names = [...names, socket.servername];
        socket.on("error", () => undefined).end();
      });
      await new Promise<void>(done => broker.listen(0, "127.0.0.1", done));
      const { port } = broker.address() as AddressInfo;
      const queue = { queue: "x", exchange: null, routing_key: null };
      const settings = { ...SETTINGS, ...queue, url: `amqps://sandbox.test:${port}`, ca: TEST_TLS.cert };
      const silent = await connectToRabbitMq(through, settings, 2000).catch(caught => caught);
      await new Promise(done => broker.close(done));
      expect(silent.code).to.be.oneOf(["reset", "timeout"]);
      expect(names).to.deep.equal(["sandbox.test"]);
      expect(proxy.asked).to.deep.equal([`127.0.0.1:${port}`]);
    });
  });

  for (const [kind, connect] of [
    ["Redis", toRedis],
    ["RabbitMQ", toRabbitMq],
  ] as const) {
    it(`does not lead to a private address behind a name: ${kind}`, async () => {
      const error = await connect(open({ resolve: async () => ["127.0.0.1"] })).catch(caught => caught);
      expect(error).to.include({
        code: "blocked-address",
        message: "innocent.example is not a public address",
      });
    });

    it(`leads to no port that the operator blocks: ${kind}`, async () => {
      const blockedPorts = [String(redis.port)];
      const through = open({ allow: ["127.0.0.1"], resolve: async () => ["127.0.0.1"], blockedPorts });
      expect(await connect(through).catch(caught => caught.code)).to.equal("blocked-address");
    });

    it(`resolves a name once for each connection, and connects to what it checked: ${kind}`, async () => {
      let resolved = 0;
      const resolve = async () => {
        resolved += 1;
        return resolved === 1 ? ["127.0.0.1"] : ["127.0.0.2"];
      };
      const connection = await connect(open({ allow: ["127.0.0.1"], resolve })).catch(caught => caught);
      // The server at that address is a Redis: it accepts the one, and what it says to the other isn't AMQP.
      if (kind === "Redis") connection.close();
      else expect(connection.code).to.be.oneOf(["reset", "timeout", "protocol"]);
      expect(resolved).to.equal(1);
    });
  }
});
