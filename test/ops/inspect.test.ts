import { get as httpGet } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { networkInterfaces } from "node:os";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { serveWorker } from "../../src/ops/serve-worker.ts";
import { startWeb } from "../../src/server.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";

const TOKEN = "metrics-token-0123456789";

/** An address of this machine that is not loopback. */
const external = Object.values(networkInterfaces())
  .flat()
  .find(one => one?.family === "IPv4" && !one.internal)?.address;

interface Server {
  ask(
    path: string,
    headers?: Record<string, string>,
    host?: string,
  ): Promise<{ status: number; text: string }>;
  close(): Promise<unknown>;
  port: number;
}

async function start(platform: TestPlatform, kind: "web" | "worker"): Promise<Server> {
  let port: number;
  let close: () => Promise<unknown>;
  if (kind === "web") {
    const web = await startWeb(platform);
    ({ port, close } = web);
  } else {
    const server = await serveWorker(platform);
    ({ port } = server.address() as AddressInfo);
    close = () => new Promise(resolve => server.close(resolve));
  }
  return {
    close,
    port,
    ask: (path, headers = {}, host = "127.0.0.1") =>
      new Promise((done, failed) => {
        httpGet({ host, port, path, headers, agent: false }, response => {
          let text = "";
          response.setEncoding("utf8").on("data", chunk => {
            text += chunk;
          });
          response.once("end", () => done({ status: response.statusCode ?? 0, text }));
        }).once("error", failed);
      }),
  };
}

for (const kind of ["web", "worker"] as const) {
  describe(`metrics and readiness of the ${kind} process`, () => {
    let platform: TestPlatform;
    let server: Server;
    const open = async (env: Record<string, string>) => {
      platform = await openTestPlatform({ HOST: "0.0.0.0", ...env });
      server = await start(platform, kind);
    };
    afterEach(async () => {
      await server.close();
      await platform.destroy();
    });

    it("are behind the same door: what is malformed gets a problem, and a body that nobody reads ends its connection", async () => {
      await open({});
      const { port } = server;
      const ask = async (sent: string) => {
        const socket = connect(port, "127.0.0.1").setEncoding("latin1");
        socket.write(sent);
        return await text(socket);
      };
      const twoHosts = await ask("GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n");
      expect(twoHosts)
        .to.match(/^HTTP\/1\.1 400 /)
        .and.include("application/problem+json");
      expect(await ask(`GET /healthz HTTP/1.1\r\nX: ${"a".repeat(LIMITS.headBytes.value)}\r\n\r\n`)).to.match(
        /^HTTP\/1\.1 431 [\s\S]*application\/problem\+json/,
      );
      const size = 2 * LIMITS.drainedBytes.value;
      const large = await ask(`POST /nothing HTTP/1.1\r\nHost: a\r\nContent-Length: ${size}\r\n\r\n`);
      expect(large).to.match(/^HTTP\/1\.1 404 [\s\S]*\r\nConnection: close\r\n/i);
    });

    it("need METRICS_TOKEN if it is set, wherever the request comes from", async () => {
      await open({ METRICS_TOKEN: TOKEN });
      const authorization = `Bearer ${TOKEN}`;
      for (const headers of [
        {},
        { authorization: `${authorization}x` },
        { authorization: `Basic ${TOKEN}` },
      ]) {
        expect((await server.ask("/metrics", headers as Record<string, string>)).status).to.equal(401);
      }
      const { status, text } = await server.ask("/metrics", {
        authorization,
        "x-forwarded-for": "203.0.113.7",
      });
      expect(status).to.equal(200);
      expect(text).to.include("# TYPE ");
    });

    it("do not say which store is missing to those who may not read them", async () => {
      await open({ METRICS_TOKEN: TOKEN });
      await platform.mongo.close();
      const shown = async (headers?: Record<string, string>) =>
        JSON.parse((await server.ask("/readyz", headers)).text);
      expect(await shown()).to.deep.equal({ status: "unready" });
      const authorization = `Bearer ${TOKEN}`;
      expect(await shown({ authorization })).to.deep.equal({ status: "unready", missing: ["mongodb"] });
      expect(JSON.parse((await server.ask("/healthz")).text)).to.deep.equal({ status: "ok" });
      await platform.mongo.openUri(platform.config.mongodbUrl);
    });

    it("are read at most once a second, however many requests there are", async () => {
      await open({ METRICS_TOKEN: TOKEN });
      let exposed = 0;
      const expose = platform.metrics.expose.bind(platform.metrics);
      platform.metrics.expose = () => {
        exposed += 1;
        return expose();
      };
      let probes = 0;
      const set = platform.redis.set.bind(platform.redis) as (...args: unknown[]) => unknown;
      Object.assign(platform.redis, {
        set: (...args: unknown[]) => {
          probes += 1;
          return set(...args);
        },
      });
      const startedAt = performance.now();
      for (let i = 0; i < 10; i++) {
        const paths = Array.from({ length: 20 }, (_, j) => (j % 2 ? "/metrics" : "/readyz"));
        await Promise.all(paths.map(path => server.ask(path, { authorization: `Bearer ${TOKEN}` })));
      }
      const seconds = Math.ceil((performance.now() - startedAt) / LIMITS.inspectionMs.value);
      expect(exposed).to.be.within(1, seconds + 1);
      expect(probes).to.be.within(1, seconds + 1);
    });
  });
}

describe("a web process without METRICS_TOKEN", () => {
  it("shows neither metrics nor what is not ready, to its own machine neither: a peer there may be a proxy", async () => {
    const platform = await openTestPlatform({ HOST: "0.0.0.0" });
    const server = await start(platform, "web");
    const ways = [
      {},
      { "X-Forwarded-For": "127.0.0.1" },
      { Authorization: `Bearer ${TOKEN}` },
      { Authorization: "Bearer " },
    ];
    try {
      for (const headers of ways as Record<string, string>[]) {
        for (const host of ["127.0.0.1", external ?? "127.0.0.1"]) {
          const asked = await server.ask("/metrics", headers, host);
          const { status, text } = await server.ask("/readyz", headers, host);
          expect([asked.status, status], JSON.stringify(headers)).to.deep.equal([404, 200]);
          expect(JSON.parse(text)).to.deep.equal({ status: "ready" });
        }
      }
    } finally {
      await server.close();
      await platform.destroy();
    }
  });
});
