import { createServer, type RequestListener } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer, type TLSSocket } from "node:tls";
import { expect } from "chai";
import { createEgress, type Egress, type EgressOptions, type EgressRequest } from "../../src/egress/agent.ts";
import { EgressError } from "../../src/egress/egress-error.ts";
import { parseProxyUrl } from "../../src/egress/proxy.ts";
import { type ConnectProxy, startConnectProxy } from "./connect-proxy.ts";
import { TEST_TLS } from "./test-tls.ts";

const GET: EgressRequest = { method: "GET", timeoutMs: 5000, maxResponseBytes: 1000 };

describe("the egress client behind a forward proxy", () => {
  const closers: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });

  async function proxied(options: Parameters<typeof startConnectProxy>[0] = {}): Promise<ConnectProxy> {
    const proxy = await startConnectProxy(options);
    closers.push(() => proxy.close());
    return proxy;
  }

  function egress(proxyUrl: string, options: Partial<EgressOptions> = {}): Egress {
    const made = createEgress({
      allow: ["127.0.0.1"],
      blockedHosts: [],
      connectTimeoutMs: 1000,
      resolve: async () => ["127.0.0.1"],
      proxy: parseProxyUrl(proxyUrl),
      ...options,
    });
    closers.push(() => made.close());
    return made;
  }

  async function listen(server: Server): Promise<number> {
    await new Promise<void>(done => server.listen(0, "127.0.0.1", done));
    const open = new Set<Socket>();
    server.on("connection", (socket: Socket) => open.add(socket));
    closers.push(async () => {
      for (const socket of open) socket.destroy();
      await new Promise(done => server.close(done));
    });
    return (server.address() as AddressInfo).port;
  }
  const serve = (listener: RequestListener) => listen(createServer(listener));

  async function errorOf(work: Promise<unknown>): Promise<EgressError> {
    const error = await work.then(
      () => expect.fail("it succeeded"),
      (thrown: unknown) => thrown,
    );
    expect(error).to.be.instanceOf(EgressError);
    return error as EgressError;
  }

  it("asks the proxy for the address that was checked, and the host for its name", async () => {
    const port = await serve((request, response) => response.end(`${request.headers.host} ${request.url}`));
    const proxy = await proxied();
    const client = egress(`http://127.0.0.1:${proxy.port}`);
    for (const path of ["/a?b=1", "/c"]) {
      const response = await client.request(`http://shop.test:${port}${path}`, GET);
      expect(response.status).to.equal(200);
      expect(response.body.toString()).to.equal(`shop.test:${port} ${path}`);
      // The client marks a connection as free right after it has passed on the response.
      await new Promise(setImmediate);
    }
    expect(proxy.asked, "one connection, which was kept").to.deep.equal([`127.0.0.1:${port}`]);
    expect(proxy.others).to.deep.equal([]);
    expect(proxy.credentials).to.deep.equal([undefined]);
  });

  it("has TLS with the host itself, by its name", async () => {
    const names: unknown[] = [];
    const port = await listen(
      createTlsServer(TEST_TLS, (socket: TLSSocket) => {
        names.push(socket.servername);
        socket.on("error", () => undefined).end("hello");
      }),
    );
    const proxy = await proxied();
    const client = egress(`http://127.0.0.1:${proxy.port}`);
    const socket = await client.connect({ host: "sandbox.test", port, tls: { ca: TEST_TLS.cert } });
    socket.setEncoding("utf8");
    expect(await new Promise(done => socket.once("data", done))).to.equal("hello");
    socket.destroy();
    expect(names).to.deep.equal(["sandbox.test"]);
    expect(proxy.asked).to.deep.equal([`127.0.0.1:${port}`]);
    const other = await errorOf(client.connect({ host: "other.test", port, tls: { ca: TEST_TLS.cert } }));
    expect(other.code).to.equal("tls");
  });

  it("signs in with the user and the password of the setting", async () => {
    const port = await serve((_request, response) => response.end("ok"));
    const proxy = await proxied();
    await egress(`http://us%40er:p%3Ass@127.0.0.1:${proxy.port}`).request(`http://shop.test:${port}/`, GET);
    const basic = Buffer.from("us@er:p:ss").toString("base64");
    expect(proxy.credentials).to.deep.equal([`Basic ${basic}`]);
  });

  it("never asks the proxy for an address that is not allowed", async () => {
    const proxy = await proxied();
    for (const [host, address] of [
      ["10.0.0.1", "10.0.0.1"],
      ["metadata.test", "169.254.169.254"],
      ["store.test", "127.0.0.1"],
    ] as const) {
      const client = egress(`http://127.0.0.1:${proxy.port}`, {
        resolve: async name => [name === "store" ? "127.0.0.1" : address],
        blockedHosts: [{ host: "store", port: 6379 }],
      });
      const error = await errorOf(client.request(`http://${host}:6379/`, GET));
      expect(error.code, host).to.equal("blocked-address");
    }
    expect(proxy.asked).to.deep.equal([]);
  });

  it("resolves a name once: what the proxy would make of it does not matter", async () => {
    const port = await serve((_request, response) => response.end("ok"));
    const proxy = await proxied();
    let lookups = 0;
    const resolve = async () => {
      lookups += 1;
      return ["127.0.0.1"];
    };
    await egress(`http://127.0.0.1:${proxy.port}`, { resolve }).request(
      `http://localhost.test:${port}/`,
      GET,
    );
    expect([lookups, proxy.asked]).to.deep.equal([1, [`127.0.0.1:${port}`]]);
  });

  it("tries the next address of a name if the proxy can't reach one", async () => {
    const port = await serve((_request, response) => response.end("ok"));
    const proxy = await proxied();
    const client = egress(`http://127.0.0.1:${proxy.port}`, {
      allow: ["127.0.0.0/8", "::1"],
      resolve: async () => ["127.0.0.9", "::1", "127.0.0.1"],
    });
    expect((await client.request(`http://shop.test:${port}/`, GET)).status).to.equal(200);
    expect(proxy.asked).to.deep.equal([`127.0.0.9:${port}`, `[::1]:${port}`, `127.0.0.1:${port}`]);
  });

  for (const [status, code, message] of [
    [403, "connect", /shop\.test: the proxy responded 403/],
    [502, "connect", /shop\.test: the proxy responded 502/],
    [407, "local", /EGRESS_PROXY wants another user or password/],
    [null, "timeout", /connecting to shop\.test timed out/],
  ] as const) {
    it(`says what became of the connection if the proxy responds ${status ?? "nothing"}`, async () => {
      const proxy = await proxied({ status });
      const client = egress(`http://user:s3cret@127.0.0.1:${proxy.port}`, { connectTimeoutMs: 300 });
      const error = await errorOf(client.request("http://shop.test/", GET));
      expect(error.code).to.equal(code);
      expect(error.message).to.match(message);
      expect(error.message).not.to.match(/s3cret|127\.0\.0\.1/);
    });
  }

  it("says of a proxy that is away, or that is no proxy, that the host is not to blame", async () => {
    const away = await errorOf(egress("http://u:s3cret@127.0.0.1:1").request("http://shop.test/", GET));
    expect(away.code).to.equal("local");
    expect(away.message).to.match(/the proxy of EGRESS_PROXY can't be reached/);
    expect(away.message).not.to.include("s3cret");
    const proxy = await proxied({ isTls: true });
    const untrusted = await errorOf(
      egress(`https://127.0.0.1:${proxy.port}`).request("http://shop.test/", GET),
    );
    expect(untrusted.code).to.equal("local");
    expect(proxy.asked).to.deep.equal([]);
  });

  it("does not take a host that ends its first connection for one that ends a kept one", async () => {
    let connections = 0;
    const port = await listen(
      createTcpServer(socket => {
        connections += 1;
        socket.on("error", () => undefined).once("data", () => socket.destroy());
      }),
    );
    const proxy = await proxied();
    const client = egress(`http://127.0.0.1:${proxy.port}`);
    const error = await errorOf(client.request(`http://shop.test:${port}/`, { ...GET, isRepeatable: true }));
    expect([error.code, connections]).to.deep.equal(["reset", 1]);
  });
});

describe("the address of a forward proxy", () => {
  it("has a host and perhaps a port, a user and a password", () => {
    expect(parseProxyUrl("http://proxy.example.com:3128")).to.deep.equal({
      host: "proxy.example.com",
      port: 3128,
      isTls: false,
      authorization: undefined,
    });
    const { host, port, isTls, authorization = "" } = parseProxyUrl("https://a:b%20c@[2001:db8::1]/");
    expect({ host, port, isTls }).to.deep.equal({ host: "2001:db8::1", port: 443, isTls: true });
    expect(Buffer.from(authorization.slice("Basic ".length), "base64").toString()).to.equal("a:b c");
  });

  for (const text of [
    "proxy:3128",
    "socks5://proxy:1080",
    "http://",
    "http://u:s3cret@proxy/path",
    "http://proxy?x=1",
  ]) {
    it(`is not ${text}`, () => {
      expect(() => parseProxyUrl(text))
        .to.throw(/^must /)
        .with.property("message")
        .not.include("s3cret");
    });
  }
});
