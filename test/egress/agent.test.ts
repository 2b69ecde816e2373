import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, createServer as createTcpServer, type Socket } from "node:net";
import { expect } from "chai";
import { createEgress, type Egress, type EgressOptions, type EgressRequest } from "../../src/egress/agent.ts";
import { EgressError, type EgressErrorCode } from "../../src/egress/egress-error.ts";
import { until } from "../support/until.ts";
import { TEST_TLS } from "./test-tls.ts";

const GET: EgressRequest = { method: "GET", timeoutMs: 5000, maxResponseBytes: 1000 };

describe("the egress client", () => {
  const closers: (() => Promise<unknown>)[] = [];

  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });

  function egress(options: Partial<EgressOptions> = {}): Egress {
    const made = createEgress({ allow: [], blockedHosts: [], connectTimeoutMs: 2000, ...options });
    closers.push(() => made.close());
    return made;
  }

  async function listen(server: Server | ReturnType<typeof createTcpServer>): Promise<number> {
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

  async function codeOf(work: Promise<unknown>): Promise<EgressErrorCode | undefined> {
    const error = await work.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).to.be.instanceOf(EgressError);
    return (error as EgressError).code;
  }

  describe("with a connection that the server keeps", () => {
    /** Ends each connection as `end` says when the second request arrives on it, and responds to all others. */
    async function closing(end: (socket: Socket) => void): Promise<{ port: number; paths: string[] }> {
      const paths: string[] = [];
      const port = await listen(
        createTcpServer(socket => {
          let requests = 0;
          socket.on("error", () => undefined);
          socket.on("data", data => {
            const path = /^\w+ (\S+)/.exec(String(data))?.[1] ?? "";
            paths.push(path);
            requests += 1;
            if (requests === 2 || path === "/never") end(socket);
            else socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
          });
        }),
      );
      return { port, paths };
    }

    /** The client marks a connection as free right after it has passed on the response. */
    const connectionIsFree = () => new Promise(setImmediate);

    const ENDS: [how: string, end: (socket: Socket) => void, isRepeated: boolean][] = [
      ["closes it", socket => void socket.end(), true],
      ["resets it", socket => void socket.resetAndDestroy(), true],
      ["sends a part of a response and closes it", socket => void socket.end("HTTP/1.1 2"), false],
    ];
    for (const [how, end, isRepeated] of ENDS) {
      it(`sends a repeatable request ${isRepeated ? "once more" : "only once"} if the server ${how}`, async () => {
        const { port, paths } = await closing(end);
        const client = egress({ allow: ["127.0.0.1"] });
        const post = { ...GET, method: "POST", body: "1", isRepeatable: true };
        const first = await client.request(`http://127.0.0.1:${port}/a`, post);
        expect(first.body.toString()).to.equal("ok");
        await connectionIsFree();
        const second = client.request(`http://127.0.0.1:${port}/b`, post);
        if (isRepeated) expect((await second).status).to.equal(200);
        else expect(await codeOf(second)).to.be.oneOf(["reset", "protocol"]);
        expect(paths).to.deep.equal(isRepeated ? ["/a", "/b", "/b"] : ["/a", "/b"]);
      });
    }

    it("never repeats a request whose receiver may not know a repeat, and none on a new connection", async () => {
      const { port, paths } = await closing(socket => void socket.end());
      const client = egress({ allow: ["127.0.0.1"] });
      expect(
        await codeOf(client.request(`http://127.0.0.1:${port}/never`, { ...GET, isRepeatable: true })),
      ).to.equal("reset");
      await client.request(`http://127.0.0.1:${port}/a`, GET);
      await connectionIsFree();
      expect(await codeOf(client.request(`http://127.0.0.1:${port}/b`, GET))).to.equal("reset");
      expect(paths).to.deep.equal(["/never", "/a", "/b"]);
    });
  });

  const UNUSUAL: [what: string, response: string, message: RegExp][] = [
    [
      "100 Continue that was not asked for",
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
      /sent 100 Continue, which was not asked for/,
    ],
    [
      "more than 16 KB of headers",
      `HTTP/1.1 200 OK\r\nX-Long: ${"x".repeat(20_000)}\r\nContent-Length: 0\r\n\r\n`,
      /more than 16 KB of headers/,
    ],
    ["no HTTP at all", "SSH-2.0-OpenSSH_9.2\r\n\r\n", /did not respond with valid HTTP/],
  ];
  for (const [what, text, message] of UNUSUAL) {
    it(`names what the server did: ${what}`, async () => {
      const port = await listen(
        createTcpServer(socket => {
          socket.on("error", () => undefined);
          socket.once("data", () => socket.write(text));
        }),
      );
      const request = egress({ allow: ["127.0.0.1"] }).request(`http://127.0.0.1:${port}/`, GET);
      const error = await request.then(
        () => undefined,
        (thrown: Error) => thrown,
      );
      expect(error?.message).to.match(message);
    });
  }

  it("blocks loopback by default, by number and by name", async () => {
    const port = await serve((_request, response) => response.end("secret"));
    for (const host of [
      "127.0.0.1",
      "localhost",
      "[::1]",
      "0.0.0.0",
      "2130706433",
      "0x7f.1",
      "[::ffff:127.0.0.1]",
    ]) {
      expect(await codeOf(egress().request(`http://${host}:${port}/`, GET)), host).to.equal(
        "blocked-address",
      );
    }
  });

  it("reaches an allowed address, sends body and headers, and returns status, headers and body", async () => {
    const port = await serve(async (request, response) => {
      let body = "";
      for await (const chunk of request) body += chunk;
      response.setHeader("set-cookie", ["a=1", "b=2"]);
      response.statusCode = 201;
      response.end(
        `${request.method} ${request.url} ${request.headers["x-test"]} ${request.headers["user-agent"]} ${body}`,
      );
    });
    const client = egress({ allow: ["127.0.0.1"], userAgent: "Headwater/1" });
    const response = await client.request(`http://localhost:${port}/p?q=1`, {
      ...GET,
      method: "post",
      headers: { "X-Test": "yes" },
      body: "hello",
    });
    expect(response.status).to.equal(201);
    expect(response.body.toString()).to.equal("POST /p?q=1 yes Headwater/1 hello");
    expect(response.headers["set-cookie"]).to.equal("a=1, b=2");
    expect(response.truncated).to.equal(false);
  });

  it("connects to the address that it checked, even if the name changes its address (DNS rebinding)", async () => {
    const port = await serve((_request, response) => response.end("secret"));
    let lookups = 0;
    const resolve = async () => (lookups++ === 0 ? ["203.0.113.9"] : ["127.0.0.1"]);
    const client = egress({ resolve, allow: ["203.0.113.9"], connectTimeoutMs: 300 });
    expect(await codeOf(client.request(`http://rebind.test:${port}/`, GET))).to.be.oneOf([
      "timeout",
      "connect",
    ]);
    expect(lookups).to.equal(1);
    expect(await codeOf(client.request(`http://rebind.test:${port}/`, GET))).to.equal("blocked-address");
  });

  it("uses only those addresses of a name that passed the check", async () => {
    const port = await serve((_request, response) => response.end("ok"));
    const resolve = async () => ["10.0.0.1", "::1", "127.0.0.1"];
    const client = egress({ resolve, allow: ["127.0.0.1"] });
    expect((await client.request(`http://mixed.test:${port}/`, GET)).status).to.equal(200);
  });

  it("never reaches the platform's own stores, whatever is allowed and in any spelling", async () => {
    const port = await serve((_request, response) => response.end("store"));
    const resolve = async (host: string) => [host === "store" ? "127.0.0.1" : host];
    const client = egress({
      resolve,
      allow: ["0.0.0.0/0", "::/0"],
      blockedHosts: [{ host: "store", port }],
    });
    for (const host of ["127.0.0.1", "127.0.0.2", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "[::]"]) {
      expect(await codeOf(client.request(`http://${host}:${port}/`, GET)), host).to.equal("blocked-address");
    }
  });

  it("blocks a store's port while the store's name can't be resolved", async () => {
    const port = await serve((_request, response) => response.end("store"));
    const resolve = async (host: string) => {
      if (host === "store") throw new EgressError("dns", "down");
      return ["127.0.0.1"];
    };
    const client = egress({ resolve, allow: ["127.0.0.1"], blockedHosts: [{ host: "store", port }] });
    expect(await codeOf(client.request(`http://other.test:${port}/`, GET))).to.equal("blocked-address");
  });

  it("does not follow redirects", async () => {
    const port = await serve((_request, response) => {
      response.writeHead(302, { location: "http://127.0.0.1:1/" }).end();
    });
    const response = await egress({ allow: ["127.0.0.1"] }).request(`http://127.0.0.1:${port}/`, GET);
    expect(response.status).to.equal(302);
  });

  it("truncates a body at the limit and does not read the rest", async () => {
    let sent = 0;
    let isGone = false;
    const port = await serve((_request, response) => {
      response.on("close", () => {
        isGone = true;
      });
      const pump = () => {
        while (!isGone && response.write(Buffer.alloc(64_000))) sent += 64_000;
        if (!isGone) response.once("drain", pump);
      };
      pump();
    });
    const response = await egress({ allow: ["127.0.0.1"] }).request(`http://127.0.0.1:${port}/`, GET);
    expect(response.body.length).to.equal(1000);
    expect(response.truncated).to.equal(true);
    await until(() => isGone, { what: "the connection ends" });
    expect(sent).to.be.lessThan(100_000_000);
  });

  it("marks a body that breaks off as truncated, and keeps the status", async () => {
    const port = await serve((request, response) => {
      response.writeHead(200, { "content-length": "100" });
      response.write("part");
      setImmediate(() => request.socket.destroy());
    });
    const response = await egress({ allow: ["127.0.0.1"] }).request(`http://127.0.0.1:${port}/`, GET);
    expect(response).to.include({ status: 200, truncated: true });
  });

  it("throws each kind of failure with its code", async () => {
    const client = egress({ allow: ["127.0.0.1"], connectTimeoutMs: 1000 });
    const silent = await serve(() => {});
    const rude = await listen(createTcpServer(socket => socket.on("error", () => {}).destroy()));
    const plain = await listen(
      createTcpServer(socket => socket.on("error", () => {}).end("no TLS here\r\n\r\n")),
    );
    const closed = createTcpServer();
    const closedPort = await listen(closed);
    await closers.pop()?.();
    const quick = { ...GET, timeoutMs: 300 };
    expect(await codeOf(client.request(`http://127.0.0.1:${silent}/`, quick))).to.equal("timeout");
    expect(await codeOf(client.request(`http://127.0.0.1:${rude}/`, GET))).to.equal("reset");
    expect(await codeOf(client.request(`https://127.0.0.1:${plain}/`, GET))).to.equal("tls");
    expect(await codeOf(client.request(`http://127.0.0.1:${closedPort}/`, GET))).to.equal("connect");
    const nameless = async () => {
      throw new EgressError("dns", "no such name");
    };
    expect(await codeOf(egress({ resolve: nameless }).request("http://absent.test/", GET))).to.equal("dns");
    for (const url of ["ftp://a.test/", "a.test", "http://u:p@a.test/", "http://"]) {
      expect(await codeOf(client.request(url, GET)), url).to.equal("invalid-url");
    }
    const broken = { ...GET, headers: { "x-a": "line\r\nx-b: 1" } };
    expect(await codeOf(client.request(`http://127.0.0.1:${silent}/`, broken))).to.equal("invalid-url");
  });

  it("verifies certificates", async () => {
    const port = await listen(createTlsServer(TEST_TLS, (_request, response) => response.end("never")));
    const client = egress({ allow: ["127.0.0.1"] });
    expect(await codeOf(client.request(`https://localhost:${port}/`, GET))).to.equal("tls");
  });

  it("stops when the caller's signal is aborted, with the signal's reason", async () => {
    const port = await serve(() => {});
    const stop = new AbortController();
    const reason = new Error("no longer needed");
    const work = egress({ allow: ["127.0.0.1"] }).request(`http://127.0.0.1:${port}/`, {
      ...GET,
      signal: stop.signal,
    });
    setImmediate(() => stop.abort(reason));
    expect(await work.catch((error: unknown) => error)).to.equal(reason);
  });

  it("lets no request wait for those that hang at the same origin, on the time of its own endpoint", async () => {
    let hanging = 0;
    const port = await serve((request, response) => {
      if (request.url === "/quick") response.end();
      else hanging += 1;
    });
    const client = egress({ allow: ["127.0.0.1"] });
    const slow = Array.from({ length: 200 }, () => client.request(`http://127.0.0.1:${port}/`, GET));
    for (const request of slow) request.catch(() => undefined);
    await until(() => hanging === 200, { what: "200 requests are held" });
    expect((await client.request(`http://127.0.0.1:${port}/quick`, GET)).status).to.equal(200);
  });

  it("says when this machine, and not the endpoint, is out of sockets", async () => {
    for (const code of ["EMFILE", "ENFILE", "ENOBUFS"]) {
      const client = egress({
        allow: ["127.0.0.1"],
        resolve: () => Promise.reject(Object.assign(new Error(code), { code })),
      });
      expect(await codeOf(client.request("http://host.example/", GET)), code).to.equal("local");
    }
  });
});
